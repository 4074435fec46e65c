/**
 * Compares two texts: side by side, or unified on a narrow screen. Either both are read-only, or the right one is editable and
 * each difference has a button that restores the left text.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { useEffect, useRef } from 'preact/hooks'
import { compareLines } from './compare-lines.js'
import { editorTheme } from './editor-theme.js'
import { vcl } from './vcl-language.js'

export interface ComparedText {
  /** Accessible name of the text. */
  readonly label: string
  readonly text: string
}

interface ComparisonProps {
  readonly left: ComparedText
  readonly right: ComparedText
  /** Makes the right text editable; called after each change. */
  readonly onMerge?: (text: string) => void
}

const narrow = matchMedia('(width < 44rem)')
const diffConfig = { override: compareLines }
const shared = { diffConfig, collapseUnchanged: { margin: 3, minSize: 6 }, gutter: true }

export function Comparison({ left, right, onMerge }: ComparisonProps) {
  const place = useRef<HTMLDivElement>(null)
  const merge = useRef(onMerge)
  merge.current = onMerge
  const isMerged = onMerge !== undefined
  useEffect(() => {
    const host = place.current
    if (!host) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    let { text } = right
    const onChange = (now: string): void => {
      text = now
      merge.current?.(now)
    }
    const draw = () => show(root, left, { ...right, text }, isMerged ? onChange : null)
    let shown = draw()
    const redraw = (): void => {
      shown.destroy()
      shown = draw()
    }
    narrow.addEventListener('change', redraw)
    return () => {
      narrow.removeEventListener('change', redraw)
      shown.destroy()
    }
  }, [left.text, right.text, left.label, right.label, isMerged])
  return <div class="comparison" ref={place} />
}

type OnChange = ((text: string) => void) | null

function show(
  root: ShadowRoot,
  left: ComparedText,
  right: ComparedText,
  onChange: OnChange,
): { readonly destroy: () => void } {
  if (!narrow.matches)
    return new MergeView({
      ...shared,
      root,
      parent: root,
      highlightChanges: true,
      ...(onChange && { revertControls: 'a-to-b', renderRevertControl: makeArrow }),
      a: { doc: left.text, extensions: extensionsOf(left.label, null) },
      b: { doc: right.text, extensions: extensionsOf(right.label, onChange) },
    })
  const unified = unifiedMergeView({
    ...shared,
    original: left.text,
    mergeControls: onChange ? makeControl : false,
  })
  const state = EditorState.create({
    doc: right.text,
    extensions: [...extensionsOf(`${left.label}, then ${right.label}`, onChange), unified],
  })
  return new EditorView({ state, root, parent: root })
}

function extensionsOf(label: string, onChange: OnChange): readonly Extension[] {
  return [
    ...[lineNumbers(), vcl, editorTheme, EditorView.lineWrapping],
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    onChange
      ? [
          ...[history(), keymap.of([...historyKeymap, ...defaultKeymap])],
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) onChange(state.doc.toString())
          }),
        ]
      : EditorState.readOnly.of(true),
  ]
}

/** The arrow between the two texts: the merge view handles the pointer but no keys, so a key press is sent as a pointer press. */
function makeArrow(): HTMLElement {
  const button = makeButton('→')
  button.addEventListener('click', ({ detail }) => {
    if (detail === 0) button.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))
  })
  return button
}

/** The view offers "accept" and "reject"; "reject" restores the left text. */
function makeControl(type: 'accept' | 'reject', act: (event: MouseEvent) => void): HTMLElement {
  if (type === 'accept') return document.createElement('span')
  const button = makeButton('Use theirs')
  button.addEventListener('click', act)
  return button
}

function makeButton(text: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'cm-take'
  button.textContent = text
  button.title = 'Use theirs here'
  button.setAttribute('aria-label', button.title)
  // The button is outside both editors, where their themes do not apply.
  Object.assign(button.style, {
    color: 'var(--on-accent)',
    background: 'var(--accent)',
    border: '0',
    borderRadius: 'var(--round)',
    cursor: 'pointer',
  })
  return button
}

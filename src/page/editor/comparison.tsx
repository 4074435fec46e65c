/**
 * Two texts against each other: side by side, or one below the other where the screen is narrow. Either both are only looked at,
 * or the right one is edited, with a button at each difference that takes the left one's.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { useEffect, useRef } from 'preact/hooks'
import { compareLines } from './compare-lines.js'
import { look } from './look.js'
import { vcl } from './vcl-language.js'

export interface ComparedText {
  /** What it is, for who does not see it. */
  readonly label: string
  readonly text: string
}

interface ComparisonProps {
  readonly left: ComparedText
  readonly right: ComparedText
  /** The right one is edited: told of each change. */
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
    const tell = (now: string): void => {
      text = now
      merge.current?.(now)
    }
    const draw = () => show(root, left, { ...right, text }, isMerged ? tell : null)
    let shown = draw()
    const turn = (): void => {
      shown.destroy()
      shown = draw()
    }
    narrow.addEventListener('change', turn)
    return () => {
      narrow.removeEventListener('change', turn)
      shown.destroy()
    }
  }, [left.text, right.text, left.label, right.label, isMerged])
  return <div class="comparison" ref={place} />
}

type Tell = ((text: string) => void) | null

function show(
  root: ShadowRoot,
  left: ComparedText,
  right: ComparedText,
  tell: Tell,
): { readonly destroy: () => void } {
  if (!narrow.matches)
    return new MergeView({
      ...{ ...shared, root, parent: root, highlightChanges: true },
      ...(tell && { revertControls: 'a-to-b', renderRevertControl: makeArrow }),
      a: { doc: left.text, extensions: extensionsOf(left.label, null) },
      b: { doc: right.text, extensions: extensionsOf(right.label, tell) },
    })
  const unified = unifiedMergeView({
    ...{ ...shared, original: left.text },
    mergeControls: tell ? makeControl : false,
  })
  const state = EditorState.create({
    doc: right.text,
    extensions: [...extensionsOf(`${left.label}, then ${right.label}`, tell), unified],
  })
  return new EditorView({ state, root, parent: root })
}

function extensionsOf(label: string, tell: Tell): readonly Extension[] {
  return [
    ...[lineNumbers(), vcl, look, EditorView.lineWrapping],
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    tell
      ? [
          ...[history(), keymap.of([...historyKeymap, ...defaultKeymap])],
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) tell(state.doc.toString())
          }),
        ]
      : EditorState.readOnly.of(true),
  ]
}

/** Between the two: the view hears the pointer, but no key. */
function makeArrow(): HTMLElement {
  const button = makeButton('→')
  button.addEventListener('click', ({ detail }) => {
    if (detail === 0) button.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))
  })
  return button
}

/** Of the two that the view offers, "reject" puts the left one's back. */
function makeControl(type: 'accept' | 'reject', act: (event: MouseEvent) => void): HTMLElement {
  if (type === 'accept') return document.createElement('span')
  const button = makeButton('Take theirs')
  button.addEventListener('click', act)
  return button
}

function makeButton(text: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'cm-take'
  button.textContent = text
  button.title = 'Take theirs here'
  button.setAttribute('aria-label', button.title)
  // Outside of both editors, where no theme of theirs reaches.
  Object.assign(button.style, {
    ...{ color: 'var(--on-accent)', background: 'var(--accent)', border: '0' },
    ...{ borderRadius: 'var(--round)', cursor: 'pointer' },
  })
  return button
}

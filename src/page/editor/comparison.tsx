/** Two texts against each other: side by side, or one below the other where the screen is narrow. */
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { useEffect, useRef } from 'preact/hooks'
import { look } from './look.js'
import { vcl } from './vcl-language.js'

export interface ComparedText {
  /** What it is, for who does not see it. */
  readonly label: string
  readonly text: string
}

const narrow = matchMedia('(width < 44rem)')
/** Chosen by us: beyond it lines are compared as wholes, so that no text holds the page up. */
const diffConfig = { scanLimit: 2_000, timeout: 200 }
const shared = { diffConfig, collapseUnchanged: { margin: 3, minSize: 6 }, gutter: true }

export function Comparison(props: { readonly left: ComparedText; readonly right: ComparedText }) {
  const { left, right } = props
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (!host) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    let shown = show(root, left, right)
    const turn = (): void => {
      shown.destroy()
      shown = show(root, left, right)
    }
    narrow.addEventListener('change', turn)
    return () => {
      narrow.removeEventListener('change', turn)
      shown.destroy()
    }
  }, [left.text, right.text, left.label, right.label])
  return <div class="comparison" ref={place} />
}

function show(
  root: ShadowRoot,
  left: ComparedText,
  right: ComparedText,
): { readonly destroy: () => void } {
  if (!narrow.matches)
    return new MergeView({
      ...{ ...shared, root, parent: root, highlightChanges: true },
      a: { doc: left.text, extensions: extensionsOf(left) },
      b: { doc: right.text, extensions: extensionsOf(right) },
    })
  const unified = unifiedMergeView({ ...shared, original: left.text, mergeControls: false })
  const label = `${left.label}, then ${right.label}`
  const state = EditorState.create({
    doc: right.text,
    extensions: [...extensionsOf({ label, text: '' }), unified],
  })
  return new EditorView({ state, root, parent: root })
}

function extensionsOf({ label }: ComparedText) {
  return [
    ...[lineNumbers(), vcl, look, EditorState.readOnly.of(true), EditorView.lineWrapping],
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ]
}

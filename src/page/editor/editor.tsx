/** The text editor: CodeMirror in a shadow root, where the page's content security policy lets it add styles. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import { editorTheme } from './editor-theme.js'
import { findIndent } from './find-indent.js'
import { vclAssist } from './vcl-assist.js'
import { vcl } from './vcl-language.js'

interface EditedState {
  readonly text: string
  /** Accessible name of the text. */
  readonly label: string
  readonly isReadOnly: boolean
  readonly onSave: () => void
}

/** Makes a state that outlives its editor and so keeps the text, its history and the selection. */
export function makeState({ text, label, isReadOnly, onSave }: EditedState): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      ...[lineNumbers(), lintGutter(), history(), drawSelection()],
      ...[bracketMatching(), indentOnInput(), highlightActiveLine(), highlightActiveLineGutter()],
      ...[highlightSelectionMatches(), search(), vcl, vclAssist, editorTheme],
      ...[
        indentUnit.of(findIndent(text)),
        EditorState.tabSize.of(8),
        EditorState.readOnly.of(isReadOnly),
      ],
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      keymap.of([
        {
          key: 'Mod-s',
          preventDefault: true,
          run: () => {
            onSave()
            return true
          },
        },
        ...[...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab],
      ]),
    ],
  })
}

interface EditorProps {
  /** From `makeState`. Only the initial state is used; another text needs another `key`. */
  readonly state: EditorState
  /** Called after each change of the state. */
  readonly onState: (state: EditorState) => void
  /** Null: the view was destroyed. */
  readonly onView: (view: EditorView | null) => void
}

export function Editor({ state, onState, onView }: EditorProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (!host) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const view = new EditorView({
      state,
      root,
      parent: root,
      dispatchTransactions: (transactions) => {
        view.update(transactions)
        onState(view.state)
      },
    })
    onView(view)
    return () => {
      onView(null)
      view.destroy()
    }
  }, [])
  return <div class="editor" ref={place} />
}

/** Marks errors at their lines in the editor. */
import { setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { EditorView } from '@codemirror/view'
import { columnAt } from './column-at.js'

interface LineProblem {
  /** 1-based. */
  readonly line: number
  readonly position: number
  readonly message: string
}

export function markProblems(view: EditorView, problems: readonly LineProblem[]): void {
  const { doc } = view.state
  const marks = problems.map(({ line, position, message }): Diagnostic => {
    const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines))
    const start = Math.min(from + columnAt(text, position), to)
    const word = /^(?:[\w.-]+|.)?/u.exec(text.slice(start - from))?.[0] ?? ''
    return { from: start, to: start + word.length, severity: 'error', message }
  })
  view.dispatch(setDiagnostics(view.state, marks))
}

export function goToLine(view: EditorView, line: number): void {
  showLine(view, line)
  view.focus()
}

/** Scrolls the line to the middle without moving the focus. */
export function showLine(view: EditorView, line: number): void {
  const { doc } = view.state
  const { from } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  view.dispatch({
    selection: { anchor: from },
    effects: EditorView.scrollIntoView(from, { y: 'center' }),
  })
}

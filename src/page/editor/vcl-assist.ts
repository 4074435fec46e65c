/** Completion in VCL, and help for the word under the pointer. */
import { autocompletion, type Completion, type CompletionContext } from '@codemirror/autocomplete'
import { hoverTooltip } from '@codemirror/view'
import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { explain, listOptions, type VclHelp, type VclOption } from './vcl-help.js'

/** Characters read before the word being typed; in a longer subroutine all variables are offered. */
const lookBack = 100_000

export const vclAssist = [
  autocompletion({ override: [complete], icons: false, tooltipClass: () => 'cm-vcl' }),
  hoverTooltip(({ state }, at) => {
    if (isQuoted(state, at)) return null
    const { from, text } = state.doc.lineAt(at)
    const word = findWord(text, at - from)
    const help = word && explain(word.text)
    if (!word || !help) return null
    return {
      pos: from + word.from,
      end: from + word.from + word.text.length,
      above: true,
      create: () => ({ dom: drawHelp(help, true) }),
    }
  }),
]

function complete(context: CompletionContext) {
  const { state, pos, explicit } = context
  const typed = context.matchBefore(/[a-z_][\w.-]*/i)
  if (isQuoted(state, pos) || (!typed && !explicit)) return null
  const before = state.sliceDoc(Math.max(0, pos - lookBack), pos)
  return {
    from: typed?.from ?? pos,
    options: listOptions(before).map(toCompletion),
    validFor: /^[\w.-]*$/,
  }
}

const types = { variable: 'variable', function: 'function', keyword: 'keyword', subroutine: 'type' }

function toCompletion({ label, kind, help }: VclOption): Completion {
  return {
    label,
    type: types[kind],
    detail: kind === 'variable' ? help.detail : kind,
    info: () => drawHelp(help, false),
  }
}

/** Strings and comments get no help and no completion. */
function isQuoted(state: EditorState, at: number): boolean {
  const { name } = syntaxTree(state).resolveInner(at, -1)
  return name === 'comment' || name === 'string'
}

function findWord(
  line: string,
  at: number,
): { readonly from: number; readonly text: string } | null {
  for (const { 0: text, index } of line.matchAll(/[a-z_][\w-]*(?:\.[\w-]+)*/gi))
    if (index <= at && at <= index + text.length) return { from: index, text }
  return null
}

function drawHelp({ title, detail, text, facts }: VclHelp, isTitled: boolean): HTMLElement {
  const box = document.createElement('div')
  box.className = 'cm-vcl-help'
  const add = (tag: string, words: string): void => {
    const element = document.createElement(tag)
    element.textContent = words
    box.append(element)
  }
  if (isTitled) add('b', title)
  add('code', detail)
  add('p', text)
  for (const fact of facts) add('small', fact)
  return box
}

/** Help for a VCL word, and the words that fit at a position; pure functions. */
import { vclSubroutines, vclWords } from './vcl-words.js'
import { vclVariables, type VclVariable } from './vcl-variables.js'

export interface VclHelp {
  readonly title: string
  /** Its type or its syntax. */
  readonly detail: string
  readonly text: string
  /** Where it can be read and written, and since which release. */
  readonly facts: readonly string[]
}

export interface VclOption {
  readonly label: string
  readonly kind: 'variable' | 'function' | 'keyword' | 'subroutine'
  readonly help: VclHelp
}

/** Matches comments and strings, and possible subroutine heads and braces. */
const pieces =
  /\/\*[^]*?(?:\*\/|$)|(?:\/\/|#).*|\{"[^]*?(?:"\}|$)|"""[^]*?(?:"""|$)|"[^"\n]*"?|\bsub\s+(?<name>[\w-]+)|(?<brace>[{}])/g

/** Returns the subroutine that contains the end of the text; null: none. */
export function findSubroutine(before: string): string | null {
  let name: string | null = null
  let depth = 0
  for (const { groups } of before.matchAll(pieces)) {
    if (groups?.['name'] !== undefined && depth === 0) name = groups['name']
    if (groups?.['brace'] === '{') depth++
    if (groups?.['brace'] === '}' && --depth <= 0) {
      depth = 0
      name = null
    }
  }
  return depth > 0 ? name : null
}

/** Null: the word is unknown. */
export function explain(word: string): VclHelp | null {
  const variable = findVariable(word)
  if (variable) return helpOf(variable)
  const subroutine = vclSubroutines.find(({ name }) => name === word)
  if (subroutine) return helpOfSubroutine(subroutine)
  const known = vclWords.find(({ name }) => name === word)
  return known ? { title: known.name, detail: known.form, text: known.text, facts: [] } : null
}

/** Names of headers and storages are arbitrary. */
function findVariable(word: string): VclVariable | undefined {
  return vclVariables.find(({ name }) => {
    if (name.endsWith('.*')) return word.startsWith(name.slice(0, -1))
    if (!name.includes('<name>')) return name === word
    const [begin = '', end = ''] = name.split('<name>')
    return word.startsWith(begin) && word.endsWith(end) && word.length > begin.length + end.length
  })
}

/** Returns the words that fit here: in `return (` the actions, elsewhere the subroutine's variables and all other words. */
export function listOptions(before: string): readonly VclOption[] {
  const subroutine = findSubroutine(before)
  if (/\breturn\s*\(\s*\w*$/.test(before)) return listActions(subroutine)
  if (/\b(?:sub|call)\s+\w*$/.test(before)) return subroutineOptions
  if (subroutine === null) return wordOptions
  const isSet = /\b(?:set|unset)\s+[\w.-]*$/.test(before)
  // A user-defined subroutine can be called from anywhere.
  const isOwn = !vclSubroutines.some(({ name }) => name === subroutine)
  const fitting = vclVariables.filter(({ readable, writable }) =>
    isSet
      ? isOwn || writable.includes(subroutine)
      : isOwn || readable.includes(subroutine) || writable.includes(subroutine),
  )
  return [...fitting.map(toOption), ...(isSet ? [] : wordOptions)]
}

function toOption(variable: VclVariable): VclOption {
  const { name } = variable
  const label = name.endsWith('.*') ? name.slice(0, -1) : name
  return { label, kind: 'variable', help: helpOf(variable) }
}

function listActions(subroutine: string | null): readonly VclOption[] {
  const found = vclSubroutines.find(({ name }) => name === subroutine)
  const actions = found?.returns ?? [...new Set(vclSubroutines.flatMap(({ returns }) => returns))]
  const text = subroutine === null ? 'What happens next' : `What happens after ${subroutine}`
  return actions.map((label) => ({
    label,
    kind: 'keyword',
    help: { title: label, detail: 'action', text, facts: [] },
  }))
}

const wordOptions: readonly VclOption[] = vclWords.map(({ name, form, text }) => ({
  label: name,
  kind: name.includes('.') || form.startsWith(`${name}(`) ? 'function' : 'keyword',
  help: { title: name, detail: form, text, facts: [] },
}))

const subroutineOptions: readonly VclOption[] = vclSubroutines.map((one) => ({
  label: one.name,
  kind: 'subroutine',
  help: helpOfSubroutine(one),
}))

function helpOfSubroutine({
  name,
  text,
  returns,
  since,
}: (typeof vclSubroutines)[number]): VclHelp {
  const facts = [`Returns ${returns.join(', ')}`, ...listSince(since)]
  return { title: name, detail: 'subroutine', text, facts }
}

function helpOf({ name, type, text, readable, writable, since, syntax }: VclVariable): VclHelp {
  return {
    title: name,
    detail: type,
    text,
    facts: [
      ...(readable.length > 0 ? [`Read in ${nameAll(readable)}`] : []),
      writable.length > 0 ? `Set in ${nameAll(writable)}` : 'Cannot be set',
      ...listSince(since),
      ...(syntax === null ? [] : [`VCL ${syntax}`]),
    ],
  }
}

function listSince(since: string | null): readonly string[] {
  return since === null ? [] : [`Since release ${since}`]
}

const everywhere = 15
const allSubroutines = vclSubroutines.map(({ name }) => name)

/** Abbreviates a list of nearly all subroutines. */
function nameAll(subroutines: readonly string[]): string {
  if (subroutines.length >= everywhere) return 'all subroutines'
  return allSubroutines.filter((name) => subroutines.includes(name)).join(', ')
}

/** From what was typed to the body of the call, and from its refusal back to the place in the text. Values in, values out. */

import type { TextRange } from '../../parts/text-range.js'

export type TargetKind = 'vclGroup' | 'domains' | 'tags' | 'agents' | 'all'

/** What is cleared: single URLs, all below a path, a whole site, or what an expression matches. */
export const scopes = ['url', 'prefix', 'site', 'expression'] as const
export type Scope = (typeof scopes)[number]

/** Of the address, where a ban or purge is also called so. */
export function readScope(word: string): Scope {
  if (word === 'ban') return 'expression'
  return scopes.find((one) => one === word) ?? 'url'
}

export interface Draft {
  readonly scope: Scope
  /** Expressions, URLs, paths with their site, or sites, one a line. */
  readonly text: string
  readonly kind: TargetKind
  readonly ids: readonly number[]
  /** Of a purge. */
  readonly method: string
  /** Of a purge: `Name: value`, one a line. */
  readonly headers: string
  /** Seconds. */
  readonly ttl: number
}

export interface InvalidationBody {
  readonly type: 'ban' | 'purge'
  readonly expression?: string
  readonly expressions?: readonly string[]
  readonly urls?: readonly string[]
  readonly target: object
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly ttl: number
}

/** Null: there is nothing to send yet. */
export function composeBody(draft: Draft): InvalidationBody | null {
  const { scope, kind, ids, ttl } = draft
  const lines = findLines(draft.text).map(({ words }) => words)
  const [first] = scope === 'url' ? lines : toExpressions(draft)
  if (first === undefined || (kind !== 'all' && ids.length === 0)) return null
  const references = ids.map((id) => ({ id }))
  const target =
    kind === 'all' ? { all: true } : { [kind]: kind === 'vclGroup' ? references[0] : references }
  if (scope !== 'url') {
    const expressions = toExpressions(draft)
    const content = expressions.length === 1 ? { expression: first } : { expressions }
    return { type: 'ban', ...content, target, ttl }
  }
  return {
    type: 'purge',
    urls: lines,
    target,
    ttl,
    method: draft.method.trim(),
    headers: readHeaders(draft),
  }
}

/** The expressions of a ban; empty while a line names no site. */
export function toExpressions({ scope, text }: Pick<Draft, 'scope' | 'text'>): readonly string[] {
  const lines = findLines(text).map(({ words }) => words)
  if (scope === 'expression') return lines
  const sites = lines.flatMap((line) => readSite(line) ?? [])
  if (sites.length < lines.length) return []
  return sites.map(({ host, path }) => {
    const ofSite = `req.http.host ~ "(?i)^${quote(host)}(:[0-9]+)?$"`
    return scope === 'site' ? ofSite : `${ofSite} && req.url ~ "^${quote(path)}"`
  })
}

/** The first line that names no site; null: each does, or needs none. */
export function findNoSite({ scope, text }: Pick<Draft, 'scope' | 'text'>): string | null {
  if (scope !== 'site' && scope !== 'prefix') return null
  return findLines(text).find(({ words }) => !readSite(words))?.words ?? null
}

/** Browsers disagree on what else is a host. */
const hostForm = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i

/** `https://www.example.com/img/`, or without the scheme; null: it is none. */
function readSite(words: string): { readonly host: string; readonly path: string } | null {
  const address = /^https?:\/\//i.test(words) ? words : `https://${words}`
  if (!URL.canParse(address)) return null
  const { hostname, pathname, search } = new URL(address)
  return hostForm.test(hostname) ? { host: hostname, path: `${pathname}${search}` } : null
}

/** For a regular expression inside of quotes, where a backslash would need another. */
function quote(words: string): string {
  return words.replace(/[.*+?()|{}$[]/g, '[$&]').replace(/[\\^"]/g, '.')
}

/** A line without a colon is a name without a value, which the API refuses by its name. */
function readHeaders({ headers }: Pick<Draft, 'headers'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    findLines(headers).map(({ words }) => {
      const [name = '', ...rest] = words.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

/** The place of the error in the text; null: the message names none. */
export function findMark({ text }: Pick<Draft, 'text'>, errorMsg: string): TextRange | null {
  return findWord(text, errorMsg) ?? findUrl(text, errorMsg)
}

/** `expression, position 12: …`, of several `expressions[1]: expression, position 12: …`. */
function findWord(text: string, errorMsg: string): TextRange | null {
  const found = /^(?:expressions\[(\d+)\]: )?expression, position (\d+): /.exec(errorMsg)
  const line = found && findLines(text)[Number(found[1] ?? 0)]
  if (!line) return null
  // The API counts characters, not halves of them.
  const before = Array.from(line.words).slice(0, Number(found[2]) - 1)
  const at = before.join('').length
  const [word = ''] = /^(?:"(?:[^"\\]|\\.)*"|[^ "]+|.)?/u.exec(line.words.slice(at)) ?? []
  return { from: line.from + at, to: line.from + at + word.length }
}

/** `urls: "the URL, or its beginning…": …`. */
function findUrl(text: string, errorMsg: string): TextRange | null {
  const shown = /^urls: "((?:[^"\\]|\\.)*)": /.exec(errorMsg)?.[1]
  const line = findLines(text).find(({ words }) => {
    const quoted = JSON.stringify(words).slice(1, -1)
    return (
      quoted === shown || (shown?.endsWith('…') === true && quoted.startsWith(shown.slice(0, -1)))
    )
  })
  return line ? { from: line.from, to: line.from + line.words.length } : null
}

interface Line {
  /** Without blanks around them. */
  readonly words: string
  /** Where they begin in the text. */
  readonly from: number
}

/** Without the empty ones. */
function findLines(text: string): readonly Line[] {
  return [...text.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) => {
    const words = line.trim()
    return words === '' ? [] : [{ words, from: index + line.indexOf(words) }]
  })
}

/** What empties whole caches is confirmed: all of the fleet, or a ban that matches every object. */
export function coversEverything(
  { target }: Pick<InvalidationBody, 'target'>,
  warnings: readonly string[],
): boolean {
  return 'all' in target || warnings.some((warning) => warning.includes('matches every object'))
}

/** Of the address: `1,2,3`; what is no id is left out. */
export function readIds(text: string): readonly number[] {
  return text.split(',').flatMap((word) => (/^[1-9]\d{0,15}$/.test(word) ? [Number(word)] : []))
}

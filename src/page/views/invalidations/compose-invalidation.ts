/** Converts the typed text to the request body, and locates a refusal in the text. Pure functions. */

import type { TextRange } from '../../parts/text-range.js'

export type TargetKind = 'vclGroup' | 'domains' | 'tags' | 'agents' | 'all'

/** What is cleared: single URLs, everything below a path, a whole site, or objects that match an expression. */
export const scopes = ['url', 'prefix', 'site', 'expression'] as const
export type Scope = (typeof scopes)[number]

/** Parses the scope in the URL, which may also be `ban` or `purge`. */
export function readScope(word: string): Scope {
  if (word === 'ban') return 'expression'
  return scopes.find((one) => one === word) ?? 'url'
}

export interface Draft {
  readonly scope: Scope
  /** Expressions, URLs, paths with their site, or sites, one per line. */
  readonly text: string
  readonly kind: TargetKind
  readonly ids: readonly number[]
  /** For a purge. */
  readonly method: string
  /** For a purge: `Name: value`, one per line. */
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

/** Null: nothing to send yet. */
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

/** Returns the expressions of a ban; empty while a line names no site. */
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

/** Returns the first line that names no site; null: every line does, or needs none. */
export function findNoSite({ scope, text }: Pick<Draft, 'scope' | 'text'>): string | null {
  if (scope !== 'site' && scope !== 'prefix') return null
  return findLines(text).find(({ words }) => !readSite(words))?.words ?? null
}

/** Browsers disagree on other forms of host. */
const hostForm = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])$/i

/** Parses `https://www.example.com/img/`, or without the scheme; null: not a site. */
function readSite(words: string): { readonly host: string; readonly path: string } | null {
  const address = /^https?:\/\//i.test(words) ? words : `https://${words}`
  if (!URL.canParse(address)) return null
  const { hostname, pathname, search } = new URL(address)
  return hostForm.test(hostname) ? { host: hostname, path: `${pathname}${search}` } : null
}

/** Escapes text for a regular expression in quotes, where a backslash would itself need escaping. */
function quote(words: string): string {
  return words.replace(/[.*+?()|{}$[]/g, '[$&]').replace(/[\\^"]/g, '.')
}

/** A line without a colon becomes a name without a value; the API's refusal names it. */
function readHeaders({ headers }: Pick<Draft, 'headers'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    findLines(headers).map(({ words }) => {
      const [name = '', ...rest] = words.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

/** Returns the location of the error in the text; null: the message names none. */
export function findMark({ text }: Pick<Draft, 'text'>, errorMsg: string): TextRange | null {
  return findWord(text, errorMsg) ?? findUrl(text, errorMsg)
}

/** Parses `expression, position 12: …`, or with several expressions `expressions[1]: expression, position 12: …`. */
function findWord(text: string, errorMsg: string): TextRange | null {
  const found = /^(?:expressions\[(\d+)\]: )?expression, position (\d+): /.exec(errorMsg)
  const line = found && findLines(text)[Number(found[1] ?? 0)]
  if (!line) return null
  // The API counts characters, not UTF-16 code units.
  const before = Array.from(line.words).slice(0, Number(found[2]) - 1)
  const at = before.join('').length
  const [word = ''] = /^(?:"(?:[^"\\]|\\.)*"|[^ "]+|.)?/u.exec(line.words.slice(at)) ?? []
  return { from: line.from + at, to: line.from + at + word.length }
}

/** Parses `urls: "the URL, or its beginning…": …`. */
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
  /** Trimmed. */
  readonly words: string
  /** The offset of `words` in the text. */
  readonly from: number
}

/** Splits text into lines, without empty ones. */
function findLines(text: string): readonly Line[] {
  return [...text.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) => {
    const words = line.trim()
    return words === '' ? [] : [{ words, from: index + line.indexOf(words) }]
  })
}

/** True if the user must confirm, because whole caches are emptied: all of the fleet, or a ban that matches every object. */
export function coversEverything(
  { target }: Pick<InvalidationBody, 'target'>,
  warnings: readonly string[],
): boolean {
  return 'all' in target || warnings.some((warning) => warning.includes('matches every object'))
}

/** Parses ids in the URL, such as `1,2,3`; invalid ids are ignored. */
export function readIds(text: string): readonly number[] {
  return text.split(',').flatMap((word) => (/^[1-9]\d{0,15}$/.test(word) ? [Number(word)] : []))
}

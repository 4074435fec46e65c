/** From what was typed to the body of the call, and from its refusal back to the place in the text. Values in, values out. */

export const targetKinds = ['vclGroup', 'domains', 'tags', 'agents', 'all'] as const
export type TargetKind = (typeof targetKinds)[number]

export interface Draft {
  readonly type: 'ban' | 'purge'
  /** Expressions or URLs, one a line. */
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
  const { type, kind, ids, ttl } = draft
  const lines = listLines(draft.text)
  const [first] = lines
  if (first === undefined || (kind !== 'all' && ids.length === 0)) return null
  const references = ids.map((id) => ({ id }))
  const target =
    kind === 'all' ? { all: true } : { [kind]: kind === 'vclGroup' ? references[0] : references }
  if (type === 'ban')
    return {
      type,
      ...(lines.length === 1 ? { expression: first } : { expressions: lines }),
      target,
      ttl,
    }
  return {
    type,
    urls: lines,
    target,
    ttl,
    method: draft.method.trim(),
    headers: readHeaders(draft),
  }
}

/** A line without a colon is a name without a value, which the API refuses by its name. */
function readHeaders({ headers }: Pick<Draft, 'headers'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listLines(headers).map((line) => {
      const [name = '', ...rest] = line.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

/** Without blanks around them, and without the empty ones. */
function listLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export interface Mark {
  readonly before: string
  /** One character; empty at the end of the text. */
  readonly at: string
  readonly after: string
}

/** Where a refusal says that an expression is wrong; null: it names no position. */
export function findMark(draft: Pick<Draft, 'text'>, errorMsg: string): Mark | null {
  const found = /^(?:expressions\[(\d+)\]: )?expression, position (\d+): /.exec(errorMsg)
  if (!found) return null
  const line = listLines(draft.text)[Number(found[1] ?? 0)]
  if (line === undefined) return null
  // The API counts characters, not halves of them.
  const characters = Array.from(line)
  const index = Number(found[2]) - 1
  return {
    before: characters.slice(0, index).join(''),
    at: characters[index] ?? '',
    after: characters.slice(index + 1).join(''),
  }
}

/** What empties whole caches is asked for once more: all of the fleet, or a ban on everything as the API warns. */
export function reachesEverything(
  { target }: Pick<InvalidationBody, 'target'>,
  warnings: readonly string[],
): boolean {
  return 'all' in target || warnings.some((warning) => warning.includes('matches every object'))
}

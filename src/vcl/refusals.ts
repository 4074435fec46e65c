/**
 * What a flattened text may not hold: what no cache is asked to compile, and what its author may not do
 * (docs/behaviour.md, VCL policy). One pass; a text with `"""` is read once more as release 6.0 of the cache reads it, where
 * that begins no long string.
 */
import type { TextPoint } from './text-point.js'
import { nestedBlockLimit } from './limits.js'
import { placeForbidden, refuseUse, watchPolicy } from './policy.js'
import type { VclReading } from './scan.js'
import { findStatements, type EndOfTokens, type Pause, type VclFinding } from './statements.js'

export interface VclRules {
  /** Names of the cache's own VCL that may be included. */
  readonly allowedExternal: ReadonlySet<string>
  /** The group has domains: its VCL is one of several on a cache, and requests come by their Host. */
  readonly amongOthers: boolean
  /** Modules that VCL of an organization may import. Null: the system administrator's, which may do what the compiler lets it. */
  readonly modules: ReadonlySet<string> | null
}

/** Where it begins, and why. */
interface Refusal extends TextPoint {
  readonly reason: string
}

/** Pauses now and then: a text of megabytes is read. */
export function* findRefusals(
  text: string,
  rules: VclRules,
): Generator<void, readonly Refusal[], void> {
  const { refusals } = yield* judgeReading(text, rules, 'current')
  const isJudged = rules.amongOthers || rules.modules !== null
  if (refusals.length > 0 || !isJudged || !text.includes('"""')) return refusals
  const other = yield* judgeReading(text, rules, 'of 6.0')
  // What does not compile there cannot run there.
  if (!other.readable) return []
  return other.refusals.map((refusal) => ({ ...refusal, reason: refusal.reason + readOtherwise }))
}

const readOtherwise = ' (release 6.0 of the cache reads """ as "" and ")'

/** As many as an author is told. */
const mostRefusals = 20

interface Judged {
  readonly readable: boolean
  readonly refusals: readonly Refusal[]
}

function* judgeReading(
  text: string,
  rules: VclRules,
  reading: VclReading,
): Generator<void, Judged, void> {
  const refusals: Refusal[] = []
  let readable = true
  const policy = rules.modules && watchPolicy(rules.modules)
  const judge = reading === 'current' ? judgeFinding : judgeOtherwise
  for (const found of findStatements(text, { reading, watch: policy?.watch ?? null })) {
    if (found.kind === 'end') continue
    if (found.kind === 'pause') {
      yield
      continue
    }
    if (found.kind === 'error') readable = false
    const reason = judge(found, rules)
    if (reason !== null) refusals.push({ line: found.line, position: found.position, reason })
    if (refusals.length === mostRefusals) break
  }
  if (policy) refusals.push(...placeForbidden(text, policy.forbidden))
  return { readable, refusals }
}

type JudgedFinding = Exclude<VclFinding, EndOfTokens | Pause>

function judgeFinding(found: JudgedFinding, rules: VclRules): string | null {
  switch (found.kind) {
    // `include` at the end of one file and a string in the next: the cache would read a file of its own.
    case 'include':
      return rules.allowedExternal.has(found.name) ? null : includeTorn
    case 'error':
    case 'flag':
      return found.reason
    case 'deep-block':
      return `Blocks are nested deeper than ${nestedBlockLimit}`
    case 'vcl-call':
      if (rules.amongOthers) return labelsRefused
      return rules.modules === null ? null : labelsOfOthers
  }
}

/** In the other reading of `"""` a statement may show that was not expanded. */
function judgeOtherwise(found: JudgedFinding, rules: VclRules): string | null {
  if (found.kind !== 'include' && found.kind !== 'flag') return judgeFinding(found, rules)
  if (rules.modules === null) return null
  if (found.kind === 'flag') return found.reason
  return rules.allowedExternal.has(found.name) ? null : includeHidden
}

const includeTorn = 'An include statement must stand in one file'

const includeHidden = refuseUse(
  'an include within """',
  'it would be read on the host of the cache',
)

const labelsOfOthers = refuseUse('return (vcl(…))', 'labels on the cache are of other groups')

const labelsRefused = 'return (vcl(…)) is not for groups with domains: requests come by their Host'

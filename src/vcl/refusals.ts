/**
 * Finds what a flattened text must not contain: what no cache should have to compile, and what its author may not use
 * (docs/behaviour.md, VCL policy). It is one pass; a text with `"""` is read a second time as release 6.0 of the cache reads it, where
 * `"""` does not start a long string.
 */
import type { TextPoint } from './text-point.js'
import { nestedBlockLimit } from './limits.js'
import { placeForbidden, refuseUse, watchPolicy } from './policy.js'
import type { VclReading } from './scan.js'
import { findStatements, type EndOfTokens, type Pause, type VclFinding } from './statements.js'

export interface VclRules {
  /** Names of the cache's own VCL files that may be included. */
  readonly allowedExternal: ReadonlySet<string>
  /** True for a group with domains: its VCL shares the cache with others, and requests are routed by Host. */
  readonly amongOthers: boolean
  /** Modules that an organization's VCL may import. Null for the system administrator's VCL, which is limited by the compiler only. */
  readonly modules: ReadonlySet<string> | null
}

/** Position and reason. */
interface Refusal extends TextPoint {
  readonly reason: string
}

/** Yields from time to time, because texts may have megabytes. */
export function* findRefusals(
  text: string,
  rules: VclRules,
): Generator<void, readonly Refusal[], void> {
  const { refusals } = yield* judgeReading(text, rules, 'current')
  const isJudged = rules.amongOthers || rules.modules !== null
  if (refusals.length > 0 || !isJudged || !text.includes('"""')) return refusals
  const other = yield* judgeReading(text, rules, 'of 6.0')
  // VCL that 6.0 cannot compile cannot run there.
  if (!other.readable) return []
  return other.refusals.map((refusal) => ({ ...refusal, reason: refusal.reason + readOtherwise }))
}

const readOtherwise = ' (release 6.0 of the cache reads """ as "" and ")'

/** The most that are shown to an author. */
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
    // An `include` at the end of one file with its string in the next would make the cache read its own file.
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

/** In the other reading of `"""` an include may appear that was not expanded. */
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

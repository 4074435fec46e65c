/**
 * Applies an agent's report to its row and its placements. Pure.
 *
 * Every load has a unique program name, so a loaded name means the same whatever the revision of the report. Results for the
 * whole attempt are used only if the report is for the currently desired revision. Each group that shares the agent is judged
 * by its own VCL: a failure of one group does not fail another.
 */
import { holderId } from '../fleet/agent-index.js'
import {
  composeNextRouting,
  composeRouting,
  isSameLoad,
  type DesiredProgram,
} from '../../vcl/desired-engine.js'
import type { ApplyReport } from '../../messages/agent-to-coordinator.js'
import type { AttemptRow } from '../fleet/condition-queries.js'
import type { AttemptRecord } from '../fleet/agent-queries.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'

export interface ReportedAgent {
  readonly agent: AttemptRow
  /** All placements on this agent, of any group. */
  readonly placements: readonly PlacementRecord[]
  /** The desired program of each of these groups and stages, by `holderId`: a VCL that served before has a different name. */
  readonly desiredPrograms: ReadonlyMap<number, DesiredProgram>
}

export type ReportedApply = Pick<
  ApplyReport,
  | 'revision'
  | 'result'
  | 'error'
  | 'loaded'
  | 'failures'
  | 'postponed'
  | 'interrupted'
  | 'changed'
  | 'serving'
  | 'certificates'
>

/** Returns `known` itself if the report is older than what is known, or for a revision that the coordinator never issued. */
export function judgeReport(
  known: ReportedAgent,
  report: ReportedApply,
  now: number,
): ReportedAgent {
  const { agent } = known
  if (report.revision > agent.desiredRevision) return known
  if (report.revision < Math.max(agent.attempted?.revision ?? 0, agent.recordedRevision ?? 0))
    return known
  const evidence = toEvidence(known, report, now)
  const isApplied = report.result === 'applied'
  const placements = known.placements.map((placement) =>
    judgeCurrent(judgeCandidate(placement, evidence), evidence),
  )
  const hasFailed = placements.some(({ state }) => state === 'failed')
  return {
    ...known,
    agent: {
      ...agent,
      attempted: judgeAttempt(agent.attempted, report, { hasFailed, now }),
      effectiveRevision: isApplied ? report.revision : agent.effectiveRevision,
      recordedRevision: isApplied ? report.revision : agent.recordedRevision,
    },
    placements,
  }
}

interface Evidence {
  readonly isNewest: boolean
  /** The VCL that routes to the serving VCLs, and the routing VCL of phase two; null: no group has domains. */
  readonly routing: string | null
  readonly nextRouting: string | null
  readonly loaded: ReadonlySet<string>
  /** Null: not reported. */
  readonly serving: ReadonlySet<string> | null
  readonly failures: ReadonlyMap<string, string>
  readonly desiredPrograms: ReadonlyMap<number, DesiredProgram>
  readonly report: ReportedApply
  readonly now: number
}

function toEvidence(known: ReportedAgent, report: ReportedApply, now: number): Evidence {
  const { agent, placements, desiredPrograms } = known
  return {
    routing: composeRouting(placements)?.name ?? null,
    nextRouting: composeNextRouting(placements)?.name ?? null,
    isNewest: report.revision === agent.desiredRevision,
    loaded: new Set(report.loaded),
    serving: report.serving ? new Set(report.serving) : null,
    failures: new Map(report.failures.map(({ program, error }) => [program, error])),
    desiredPrograms,
    report,
    now,
  }
}

/**
 * The time changes only if the agent changed something on the cache, or failed to. A failed attempt stays the last attempt if the
 * agent only went back to its earlier VCLs, and as long as one of its groups lacks the VCL that failed to load.
 */
function judgeAttempt(
  last: AttemptRecord | null,
  report: ReportedApply,
  { hasFailed, now }: { readonly hasFailed: boolean; readonly now: number },
): AttemptRecord {
  const { revision, result, changed } = report
  if (last !== null && isWithoutFailed(last, report, hasFailed)) return last
  const firstFailure = report.failures[0]?.error ?? null
  // If the result is applied, the error names the settings that the cache refused.
  const error = report.error ?? (result === 'applied' ? null : firstFailure)
  const isDone = changed || result === 'failed'
  return { revision, result, error, at: last === null || isDone ? now : last.at }
}

/** True if the agent satisfies a later desired state, which lacks the VCL that failed in the last attempt. */
function isWithoutFailed(last: AttemptRecord, report: ReportedApply, hasFailed: boolean): boolean {
  if (last.result === 'applied' || report.result !== 'applied' || report.error !== null)
    return false
  return report.revision > last.revision && (hasFailed || !report.changed)
}

function judgeCandidate(placement: PlacementRecord, evidence: Evidence): PlacementRecord {
  const { candidate, state } = placement
  if (candidate === null) return placement
  const routing = candidate.fqdns === null ? null : evidence.nextRouting
  const isRouted = routing === null || evidence.loaded.has(routing)
  if (evidence.loaded.has(candidate.name) && isRouted)
    return {
      ...placement,
      candidateState: 'loaded',
      error: state === 'failed' ? placement.error : null,
    }
  const error = findFailure(candidate.name, routing, evidence) ?? reasonOfAll(placement, evidence)
  if (error !== null) return { ...placement, candidateState: 'failed', error }
  const delay = reasonOfDelay(candidate.name, evidence)
  return delay === null ? placement : { ...placement, error: delay }
}

/** Why the agent cannot load the VCL for now, though the VCL may be correct: its disk, or the download of the source. */
function reasonOfDelay(name: string, { isNewest, report }: Evidence): string | null {
  if (!isNewest) return null
  if (report.result === 'refused') return report.error
  return report.postponed?.find(({ program }) => program === name)?.error ?? null
}

function judgeCurrent(placement: PlacementRecord, evidence: Evidence): PlacementRecord {
  const { current, state } = placement
  if (current === null) return placement
  const failure = findFailure(current.name, null, evidence)
  if (failure !== undefined) return { ...placement, state: 'failed', error: failure }
  if (!evidence.isNewest) return placement
  if (isServing(placement, evidence))
    return isWanted(placement, evidence) ? asApplied(placement, evidence) : placement
  // The VCL that served before this attempt still serves: only a requested switch can have failed.
  const routing = current.fqdns === null ? null : evidence.routing
  const error =
    state === 'applying'
      ? (findFailure(current.name, routing, evidence) ?? reasonOfAll(placement, evidence))
      : null
  if (error === null) return placement
  const candidateError = placement.candidateState === 'failed' ? placement.error : null
  return { ...placement, state: 'failed', error: candidateError ?? error }
}

/** Returns the error of the group's own VCL, or that the routing VCL which it needs was not loaded. */
function findFailure(name: string, routing: string | null, { failures }: Evidence) {
  const own = failures.get(name)
  if (own !== undefined || routing === null || !failures.has(routing)) return own
  return 'the VCL that routes requests to the groups of this cache was not loaded'
}

/** True if the VCL is loaded, active or behind its label, and the VCL that routes to it is active. */
function isServing({ current }: PlacementRecord, evidence: Evidence): boolean {
  const { loaded, serving, routing, report } = evidence
  if (current === null || !loaded.has(current.name)) return false
  if (report.result === 'applied' || serving === null) return report.result === 'applied'
  if (!serving.has(current.name)) return false
  return current.fqdns === null || routing === null || serving.has(routing)
}

/** False while the old VCL still serves: beside a candidate that is loading, or in place of a VCL that failed. */
function isWanted(placement: PlacementRecord, evidence: Evidence): boolean {
  const { state, candidate, current } = placement
  if (state === 'wanted') return candidate === null
  return (
    state !== 'failed' ||
    isSameLoad(evidence.desiredPrograms.get(holderId(placement)) ?? null, current)
  )
}

function asApplied(placement: PlacementRecord, { report, now }: Evidence): PlacementRecord {
  const { state, appliedRevision, wantedRevision, deployedAt, candidateState } = placement
  const isUnloaded = candidateState === 'failed' || candidateState === 'pending'
  const isDone = appliedRevision !== wantedRevision || (report.changed && state !== 'applied')
  return {
    ...placement,
    state: 'applied',
    appliedRevision: wantedRevision,
    error: isUnloaded ? placement.error : null,
    deployedAt: isDone || deployedAt === null ? now : deployedAt,
  }
}

/** The error that ends this attempt at the desired revision for every VCL not yet loaded; null if the report has none. */
function reasonOfAll(
  { candidate, current }: PlacementRecord,
  { isNewest, report }: Evidence,
): string | null {
  // Refused: the agent tried nothing; it is asked again, or it is Locked and no longer counts.
  if (!isNewest || report.result !== 'failed') return null
  // The report does not concern this VCL; the agent tries again by itself.
  if (report.interrupted === true) return null
  // A root group is alone on its agent: any failure is its own.
  const isAlone = (candidate ?? current)?.fqdns === null
  const first = isAlone ? report.failures[0]?.error : undefined
  return report.error ?? first ?? 'the cache did not switch to it; its last attempt has the reason'
}

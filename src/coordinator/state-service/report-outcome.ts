/**
 * What a report of an agent means for its row and its placements. Pure.
 *
 * Programs have names of their own for every load, so a name that is loaded means the same whatever the revision;
 * what says "all of it" counts only for the revision that is wanted now.
 */
import type { ApplyReport } from '../../messages/agent-to-coordinator.js'
import type { AttemptRow } from '../../store/agent-conditions.js'
import type { AttemptRecord } from '../../store/agents.js'
import type { PlacementRecord } from '../../store/placements.js'

export interface ReportedAgent {
  readonly agent: AttemptRow
  /** Those of this agent, of all groups. */
  readonly placements: readonly PlacementRecord[]
  /** The program that each of these groups wants, by group: what served before an attempt bears another name. */
  readonly wished: ReadonlyMap<number, string>
}

export type ReportedApply = Pick<
  ApplyReport,
  'revision' | 'result' | 'error' | 'loaded' | 'failures' | 'changed'
>

/** Answers the same object when the report says nothing new: it is older than what is known, or of no revision of ours. */
export function judgeReport(
  known: ReportedAgent,
  report: ReportedApply,
  now: number,
): ReportedAgent {
  const { agent } = known
  if (report.revision > agent.desiredRevision) return known
  if (report.revision < (agent.attempted?.revision ?? 0)) return known
  const evidence = {
    isNewest: report.revision === agent.desiredRevision,
    loaded: new Set(report.loaded),
    failures: new Map(report.failures.map(({ program, error }) => [program, error])),
    wished: known.wished,
    report,
    now,
  }
  return {
    ...known,
    agent: {
      ...agent,
      attempted: judgeAttempt(agent.attempted, report, now),
      effectiveRevision: report.result === 'applied' ? report.revision : agent.effectiveRevision,
    },
    placements: known.placements.map((placement) =>
      judgeCurrent(judgeCandidate(placement, evidence), evidence),
    ),
  }
}

interface Evidence {
  readonly isNewest: boolean
  readonly loaded: ReadonlySet<string>
  readonly failures: ReadonlyMap<string, string>
  readonly wished: ReadonlyMap<number, string>
  readonly report: ReportedApply
  readonly now: number
}

/** The time moves only when something was done on the cache (choices: 3, Deploy). */
function judgeAttempt(
  last: AttemptRecord | null,
  report: ReportedApply,
  now: number,
): AttemptRecord {
  const { revision, result, changed } = report
  const firstFailure = report.failures[0]?.error ?? null
  const error = result === 'applied' ? null : (report.error ?? firstFailure)
  const isDone = changed || result === 'failed'
  return { revision, result, error, at: last === null || isDone ? now : last.at }
}

function judgeCandidate(placement: PlacementRecord, evidence: Evidence): PlacementRecord {
  const { candidate, state } = placement
  if (candidate === null) return placement
  if (evidence.loaded.has(candidate.name)) {
    // Why what serves has failed stays said until the candidate takes its place.
    const error = state === 'failed' ? placement.error : null
    return { ...placement, candidateState: 'loaded', error }
  }
  const error = evidence.failures.get(candidate.name) ?? reasonOfAll(evidence)
  return error === null ? placement : { ...placement, candidateState: 'failed', error }
}

function judgeCurrent(placement: PlacementRecord, evidence: Evidence): PlacementRecord {
  const { current, state } = placement
  if (current === null) return placement
  const failure = evidence.failures.get(current.name)
  if (failure !== undefined) return { ...placement, state: 'failed', error: failure }
  if (!evidence.isNewest) return placement
  if (evidence.report.result === 'applied' && evidence.loaded.has(current.name))
    return isWanted(placement, evidence) ? asApplied(placement, evidence) : placement
  // What served before this attempt serves on: only a switch that was wanted has failed.
  const reason = state === 'applying' ? reasonOfAll(evidence) : null
  if (reason === null) return placement
  // What the engine said of the candidate tells more than that not all was done.
  const error = placement.candidateState === 'failed' ? placement.error : reason
  return { ...placement, state: 'failed', error }
}

/** Not while it is the old one that serves on: beside a candidate that still loads, or in place of one that failed. */
function isWanted({ state, candidate, current, groupId }: PlacementRecord, evidence: Evidence) {
  if (state === 'wanted') return candidate === null
  return state !== 'failed' || evidence.wished.get(groupId) === current?.name
}

function asApplied(placement: PlacementRecord, { report, now }: Evidence): PlacementRecord {
  const { state, appliedRevision, wantedRevision, deployedAt } = placement
  const isDone = appliedRevision !== wantedRevision || (report.changed && state !== 'applied')
  return {
    ...placement,
    state: 'applied',
    appliedRevision: wantedRevision,
    error: placement.candidateState === 'failed' ? placement.error : null,
    deployedAt: isDone || deployedAt === null ? now : deployedAt,
  }
}

/** Why nothing more of the wanted revision comes of this attempt; null when that is not said. */
function reasonOfAll({ isNewest, report }: Evidence): string | null {
  // Refused: nothing was tried; it is asked again, or the agent is locked and no longer counts.
  if (!isNewest || report.result !== 'failed') return null
  return report.error ?? report.failures[0]?.error ?? 'the agent gave no reason'
}

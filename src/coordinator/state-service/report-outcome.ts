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
    report,
    now,
  }
  return {
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
  const { candidate } = placement
  if (candidate === null) return placement
  if (evidence.loaded.has(candidate.name))
    return { ...placement, candidateState: 'loaded', error: null }
  const error = evidence.failures.get(candidate.name) ?? reasonOfAll(evidence)
  return error === null ? placement : { ...placement, candidateState: 'failed', error }
}

function judgeCurrent(placement: PlacementRecord, evidence: Evidence): PlacementRecord {
  const { current } = placement
  if (current === null) return placement
  const failure = evidence.failures.get(current.name)
  if (failure !== undefined) return { ...placement, state: 'failed', error: failure }
  if (!evidence.isNewest) return placement
  const isHeld = evidence.loaded.has(current.name)
  if (isHeld && evidence.report.result === 'applied') return asApplied(placement, evidence)
  // What served before this attempt serves on: only a switch that was wanted has failed.
  const error = placement.state === 'applied' ? null : reasonOfAll(evidence)
  return error === null ? placement : { ...placement, state: 'failed', error }
}

function asApplied(placement: PlacementRecord, { report, now }: Evidence): PlacementRecord {
  const isNew = placement.appliedRevision !== placement.wantedRevision
  const isDone = isNew || (report.changed && placement.state !== 'applied')
  return {
    ...placement,
    state: 'applied',
    appliedRevision: placement.wantedRevision,
    error: placement.candidateState === 'failed' ? placement.error : null,
    deployedAt: isDone || placement.deployedAt === null ? now : placement.deployedAt,
  }
}

/** Why nothing more of the wanted revision can be expected of this attempt; null when that is not said. */
function reasonOfAll({ isNewest, report }: Evidence): string | null {
  if (!isNewest || report.result === 'applied') return null
  return report.error ?? report.failures[0]?.error ?? 'the agent gave no reason'
}

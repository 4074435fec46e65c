/**
 * Writes agents' reports to rows: reports are collected for some milliseconds, then judged and written in one transaction under
 * the decision lock, because deploys change the same placements. Hints follow, so that waiting readers read again.
 */
import type { Logger } from 'pino'
import { holderId } from '../fleet/agent-index.js'
import type { PlacedProgram } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import { programOf } from '../fleet/vcl-group.js'
import {
  judgeCertificate,
  readCertificatePlaces,
  saveCertificatePlaces,
} from '../fleet/certificate-places.js'
import type { ReportedCertificate } from '../../vcl/desired-certificates.js'
import type { Drift } from '../../messages/agent-to-coordinator.js'
import {
  readAttempts,
  writeAttempts,
  writeDrift,
  type AttemptRow,
} from '../fleet/condition-queries.js'
import { readPlacements, writeReportedPlaces } from '../fleet/placement-queries.js'
import { readStages } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import { readGroups } from '../fleet/group-queries.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import { judgeReport, type ReportedAgent, type ReportedApply } from './report-outcome.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export interface ReportRecorder {
  /** Never blocks; reports of one agent are judged in the order of these calls. */
  recordApply(agentId: number, report: ReportedApply): void
  recordDrift(agentId: number, drift: Drift, traceId: string): void
  /** Writes the waiting reports. Never rejects: reports that could not be written keep waiting. */
  flush(): Promise<void>
  /** Tries once to write the waiting reports and accepts no more. */
  close(): Promise<void>
}

type Waiting =
  | { readonly agentId: number; readonly apply: ReportedApply }
  | { readonly agentId: number; readonly drift: Drift; readonly traceId: string }

/** Reports of agents that finish within this time share a transaction. */
const batchMs = 10
const batchSize = 200
/** While a fleet reports, writing takes at most half of the time: the longer a batch takes, the more reports share the next one. */
const longestRestMs = 50
const retryMs = 1000
/** Reports kept while the store is unavailable; dropped reports are requested again, since the revisions still differ. */
const waitingLimit = 20_000

/** `written` is called with the agents' rows as reports left them. */
export function createReportRecorder(
  service: StateService,
  log: Logger,
  written: (agents: readonly AttemptRow[]) => void = () => undefined,
): ReportRecorder {
  const batcher = createBatcher<Waiting>({
    log,
    trouble: 'reports cannot be written',
    waitMs: batchMs,
    retryMs,
    atOnce: batchSize,
    restMs: (tookMs) => Math.min(tookMs, longestRestMs),
    maxWaiting: waitingLimit,
    write: async (batch) => {
      written(await writeBatch(service, batch))
      notifyAgentsChanged(service, [...new Set(batch.map(({ agentId }) => agentId))])
    },
  })
  return {
    recordApply: (agentId, apply) => {
      batcher.add({ agentId, apply })
    },
    recordDrift: (agentId, drift, traceId) => {
      batcher.add({ agentId, drift, traceId })
    },
    flush: () => batcher.flush(),
    close: () => batcher.close(),
  }
}

/** Not durable: if a crash loses a report, its agent is asked again (gateway/apply-offer.ts). */
async function writeBatch(
  service: StateService,
  batch: readonly Waiting[],
): Promise<readonly AttemptRow[]> {
  const now = service.now()
  return service.store.decide(
    async (queries) => {
      const written = await judgeAndSave(queries, batch, now)
      await saveCertificates(queries, batch, now)
      for (const entry of batch)
        if ('drift' in entry)
          await writeDrift(queries, entry.agentId, entry.drift, { traceId: entry.traceId, at: now })
      return written
    },
    { durable: false },
  )
}

async function judgeAndSave(
  queries: Queries,
  batch: readonly Waiting[],
  now: number,
): Promise<readonly AttemptRow[]> {
  const applies = batch.flatMap((entry) => ('apply' in entry ? [entry] : []))
  const known = await readReported(queries, [...new Set(applies.map(({ agentId }) => agentId))])
  const judged = new Map(known)
  for (const { agentId, apply } of applies) {
    const reported = judged.get(agentId)
    if (reported) judged.set(agentId, judgeReport(reported, apply, now))
  }
  const changed = [...judged.values()].filter((now) => now !== known.get(now.agent.id))
  const agents = changed.map(({ agent }) => agent)
  await writeAttempts(queries, agents)
  const before = new Set([...known.values()].flatMap(({ placements }) => placements))
  const placements = changed.flatMap((reported) => reported.placements)
  await writeReportedPlaces(
    queries,
    placements.filter((placement) => !before.has(placement)),
  )
  return agents
}

/** Reported certificates are judged by name, whatever the revision of the report. */
async function saveCertificates(
  queries: Queries,
  batch: readonly Waiting[],
  now: number,
): Promise<void> {
  const reported = new Map<number, ReadonlyMap<string, ReportedCertificate>>()
  for (const entry of batch)
    if ('apply' in entry && entry.apply.certificates)
      reported.set(entry.agentId, new Map(entry.apply.certificates.map((one) => [one.name, one])))
  if (reported.size === 0) return
  const places = await readCertificatePlaces(queries, { agentIds: [...reported.keys()] })
  const judged = places.map((place) =>
    judgeCertificate(place, reported.get(place.agentId) ?? new Map(), now),
  )
  await saveCertificatePlaces(
    queries,
    judged.filter((place, at) => place !== places[at]),
  )
}

async function readReported(
  queries: Queries,
  agentIds: readonly number[],
): Promise<Map<number, ReportedAgent>> {
  if (agentIds.length === 0) return new Map()
  const placements = await readPlacements(queries, { agentIds })
  const placed = groupBy(placements, ({ agentId }) => agentId)
  const failed = placements.filter(({ state }) => state === 'failed')
  const desiredPrograms = await readDesiredPrograms(queries, [
    ...new Set(failed.map((one) => one.groupId)),
  ])
  const agents = await readAttempts(queries, agentIds)
  return new Map(
    agents.map((agent) => [
      agent.id,
      { agent, placements: placed.get(agent.id) ?? [], desiredPrograms },
    ]),
  )
}

async function readDesiredPrograms(
  queries: Queries,
  ids: readonly number[],
): Promise<Map<number, PlacedProgram>> {
  if (ids.length === 0) return new Map()
  const groups = await readGroups(queries, { kind: 'all' }, { ids })
  const stages = await readStages(queries, ids)
  return new Map([
    ...groups.flatMap(({ id, desiredRelease }) =>
      desiredRelease ? [[id, programOf(desiredRelease)] as const] : [],
    ),
    ...stages.map(
      ({ groupId, sources }) => [holderId({ groupId, stage: true }), programOf(sources)] as const,
    ),
  ])
}

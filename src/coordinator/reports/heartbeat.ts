/**
 * Writes heartbeats to rows: they are collected and written for all agents in one transaction per second; a heartbeat with a
 * change is written within milliseconds. Also marks silent agents Down.
 */
import type { Logger } from 'pino'
import type { EngineCondition } from '../../messages/agent-to-coordinator.js'
import {
  writeConditions,
  writeHeartbeats,
  type HeartbeatRow,
  type RecordedHeartbeat,
} from '../fleet/condition-queries.js'
import { markSilentDown } from '../fleet/silence-queries.js'
import type { ConditionColumns } from '../fleet/agent-rows.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import { requireLease } from '../store/leases.js'
import { toCondition } from '../registration/described-agent.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export type RecordedAgent = RecordedHeartbeat

export interface HeartbeatRecorder {
  /**
   * Keeps the newest heartbeat of each agent until it is written; never blocks. `isReported`: its changes are already written
   * with the agent's report (agent-reports.ts).
   */
  record(agent: LiveAgent, condition: EngineCondition, isReported?: boolean): void
  /** The rows of these agents have their effective revisions: heartbeats with the same change nothing. */
  noteWritten(agents: readonly ReportedAgent[]): void
  /** Call when the session of this agent has ended: its last heartbeat is still written. */
  forget(agentId: number): void
  /** Writes the waiting heartbeats. Never rejects: heartbeats that could not be written keep waiting. */
  flush(): Promise<void>
  /** Tries once to write the waiting heartbeats and accepts no more. */
  close(): Promise<void>
}

interface ReportedAgent {
  readonly id: number
  readonly effectiveRevision: number | null
}

interface LiveAgent {
  readonly agentId: number
  readonly readOnly: boolean
}

/** Called after each write. */
interface HeartbeatListener {
  /** The current state of these agents in the store. */
  recorded(agents: readonly RecordedAgent[]): void
  /** These agents are no longer in the store. */
  gone(agentIds: readonly number[]): void
}

/** How long a heartbeat without changes may wait for others to share its transaction. */
const batchMs = 1000
/** How long a heartbeat with a change waits for others: a whole fleet may change at once. */
const changeMs = 20

export function createHeartbeatRecorder(
  service: StateService,
  log: Logger,
  listener: HeartbeatListener,
): HeartbeatRecorder {
  /** By agent id: the columns of its row that this process wrote last. */
  const written = new Map<number, ConditionColumns>()
  const batcher = createBatcher<Waiting>({
    log,
    trouble: 'heartbeats cannot be written',
    waitMs: batchMs,
    retryMs: batchMs,
    keyOf: ({ id }) => id,
    write: async (rows) => {
      const changed = new Set(rows.filter((row) => !isKnown(written.get(row.id), row)))
      notify(rows, changed, await save(rows, changed))
    },
  })

  return { record, noteWritten, forget, flush: () => batcher.flush(), close: () => batcher.close() }

  function record(agent: LiveAgent, condition: EngineCondition, isReported = false): void {
    const row = { id: agent.agentId, at: service.now(), ...toCondition(condition, agent) }
    batcher.add(
      { ...row, isReported },
      isReported || isSame(written.get(row.id), row) ? batchMs : changeMs,
    )
  }

  function noteWritten(agents: readonly ReportedAgent[]): void {
    for (const { id, effectiveRevision } of agents) {
      const last = written.get(id)
      if (last) written.set(id, { ...last, effectiveRevision })
    }
  }

  function forget(agentId: number): void {
    if (batcher.isWaiting(agentId)) batcher.hurry(changeMs)
    written.delete(agentId)
  }

  async function save(
    rows: readonly HeartbeatRow[],
    changed: ReadonlySet<HeartbeatRow>,
  ): Promise<RecordedHeartbeat[]> {
    const same = rows.filter((row) => !changed.has(row))
    return service.store.transaction(
      async (queries) => [
        ...(await writeConditions(queries, [...changed])),
        ...(await writeHeartbeats(queries, same)),
      ],
      { durable: false, agents: rows.map(({ id }) => id) },
    )
  }

  function notify(
    rows: readonly HeartbeatRow[],
    changed: ReadonlySet<HeartbeatRow>,
    recorded: readonly RecordedHeartbeat[],
  ): void {
    const rowOf = new Map(rows.map((row) => [row.id, row]))
    const hinted: number[] = []
    for (const agent of recorded) {
      const row = rowOf.get(agent.id)
      if (!row) continue
      rowOf.delete(agent.id)
      const isNew = changed.has(row)
      if (isNew || agent.lastStateChangeAt === row.at) hinted.push(agent.id)
      if (isNew) written.set(agent.id, row)
    }
    const gone = [...rowOf.keys()]
    for (const id of gone) written.delete(id)
    notifyAgentsChanged(service, hinted)
    listener.recorded(recorded)
    if (gone.length > 0) listener.gone(gone)
  }
}

interface Waiting extends HeartbeatRow {
  readonly isReported: boolean
}

/**
 * True if the agent's row has all of it, or if only a report says more, which is written on its own: if that fails, the agent's
 * next heartbeat is a change.
 */
function isKnown(last: ConditionColumns | undefined, { isReported, ...row }: Waiting): boolean {
  if (last === undefined) return false
  const { effectiveRevision } = row
  return isSame(isReported ? { ...last, effectiveRevision } : last, row)
}

function isSame(last: ConditionColumns | undefined, row: ConditionColumns): boolean {
  return (
    last?.state === row.state &&
    last.engineState === row.engineState &&
    last.engineError === row.engineError &&
    last.effectiveRevision === row.effectiveRevision &&
    last.lockedBecause === row.lockedBecause &&
    last.cachePid === row.cachePid
  )
}

/** Down after this many missed heartbeats (docs/behaviour.md, Heartbeats). */
export const missedHeartbeats = 3

/**
 * Compares the time of the last heartbeat in the store, so that agents of a crashed coordinator are included. Only one of several
 * coordinators does it. Returns the agents that became Down.
 */
export async function markSilentAgentsDown(service: StateService): Promise<readonly number[]> {
  const now = service.now()
  const silentSince = now - missedHeartbeats * service.settings.heartbeatMs
  const ids = await service.leases.run('silence', (lease) =>
    service.store.decide(async (queries) => {
      await requireLease(queries, lease)
      return markSilentDown(queries, silentSince, now)
    }),
  )
  notifyAgentsChanged(service, ids ?? [])
  return ids ?? []
}

/**
 * Heartbeats become rows: collected, and written for all agents in one transaction a second; one that changes
 * something is written within milliseconds. And the opposite: agents that fell silent become Down.
 */
import type { Logger } from 'pino'
import type { EngineCondition } from '../../messages/agent-to-coordinator.js'
import {
  markSilentDown,
  writeConditions,
  writeHeartbeats,
  type RecordedHeartbeat,
  type HeartbeatRow,
} from '../fleet/condition-queries.js'
import type { ConditionColumns } from '../fleet/agent-rows.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import { requireLease } from '../store/leases.js'
import { toCondition } from '../registration/described-agent.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export type RecordedAgent = RecordedHeartbeat

export interface HeartbeatRecorder {
  /**
   * Keeps the newest of each agent until it is written; never waits. `isReported`: what is new about it is written with the
   * agent's report (agent-reports.ts) already.
   */
  record(agent: LiveAgent, condition: EngineCondition, isReported?: boolean): void
  /** The session of this agent ended: what it said last is still written. */
  forget(agentId: number): void
  /** Writes what is waiting. Rejects never: what could not be written waits for the next time. */
  flush(): Promise<void>
  /** Writes what is waiting, once, and starts no timer any more. */
  close(): Promise<void>
}

interface LiveAgent {
  readonly agentId: number
  readonly readOnly: boolean
}

/** Told after each write. */
interface HeartbeatListener {
  /** What the store says of these agents now. */
  recorded(agents: readonly RecordedAgent[]): void
  /** These are in the store no longer. */
  gone(agentIds: readonly number[]): void
}

/** How long a heartbeat that changes nothing may wait for others to share its transaction. */
const batchMs = 1000
/** A change waits this long for others, as a whole fleet may change at once. */
const changeMs = 20

export function createHeartbeatRecorder(
  service: StateService,
  log: Logger,
  listener: HeartbeatListener,
): HeartbeatRecorder {
  /** By agent, one entry each: what its row holds, as far as this process wrote it. */
  const written = new Map<number, ConditionColumns>()
  const batcher = createBatcher<HeartbeatRow>({
    log,
    trouble: 'heartbeats cannot be written',
    waitMs: batchMs,
    retryMs: batchMs,
    keyOf: ({ id }) => id,
    write: async (rows) => {
      notify(new Map(rows.map((row) => [row.id, row])), await save(rows))
    },
  })

  return { record, forget, flush: () => batcher.flush(), close: () => batcher.close() }

  function record(agent: LiveAgent, condition: EngineCondition, isReported = false): void {
    const row = { id: agent.agentId, at: service.now(), ...toCondition(condition, agent) }
    batcher.add(row, isReported || isWritten(row) ? batchMs : changeMs)
  }

  function forget(agentId: number): void {
    if (batcher.isWaiting(agentId)) batcher.hurry(changeMs)
    written.delete(agentId)
  }

  async function save(rows: readonly HeartbeatRow[]): Promise<RecordedHeartbeat[]> {
    const changed = rows.filter((row) => !isWritten(row))
    const same = rows.filter((row) => isWritten(row))
    return service.store.transaction(
      async (queries) => [
        ...(await writeConditions(queries, changed)),
        ...(await writeHeartbeats(queries, same)),
      ],
      { durable: false },
    )
  }

  function notify(
    rows: ReadonlyMap<number, HeartbeatRow>,
    recorded: readonly RecordedHeartbeat[],
  ): void {
    const changed: number[] = []
    const gone = new Set(rows.keys())
    for (const agent of recorded) {
      const row = rows.get(agent.id)
      if (!row) continue
      gone.delete(agent.id)
      if (!isWritten(row) || agent.lastStateChangeAt === row.at) changed.push(agent.id)
      written.set(agent.id, row)
    }
    for (const id of gone) written.delete(id)
    notifyAgentsChanged(service, changed)
    listener.recorded(recorded)
    if (gone.size > 0) listener.gone([...gone])
  }

  function isWritten(row: HeartbeatRow): boolean {
    const last = written.get(row.id)
    return (
      last?.state === row.state &&
      last.engineState === row.engineState &&
      last.engineError === row.engineError &&
      last.effectiveRevision === row.effectiveRevision &&
      last.lockedBecause === row.lockedBecause &&
      last.cachePid === row.cachePid
    )
  }
}

/** Down after this many missed heartbeats (docs/behaviour.md, Heartbeats). */
export const missedHeartbeats = 3

/**
 * Judged by the time in the store, so that the agents of a crashed coordinator are seen too. Of several coordinators one
 * does it. Answers who became Down.
 */
export async function markSilentAgentsDown(service: StateService): Promise<readonly number[]> {
  const now = service.now()
  const silentSince = now - missedHeartbeats * service.settings.heartbeatMs
  const ids = await service.leases.run('liveness', (lease) =>
    service.store.decide(async (queries) => {
      await requireLease(queries, lease)
      return markSilentDown(queries, silentSince, now)
    }),
  )
  notifyAgentsChanged(service, ids ?? [])
  return ids ?? []
}

/**
 * What agents report of their backends becomes rows: collected for some milliseconds, as a whole fleet sees an origin die at
 * once, and only what differs is written. What is lost with this process comes again with the agents' next links.
 */
import type { Logger } from 'pino'
import type { ServedVcl } from '../../messages/backend-health.js'
import { createBatcher } from '../../runtime/batcher.js'
import type { StateService } from '../service.js'
import { findHealthChanges, type BackendReport } from './health-changes.js'
import { readHealthRows, writeHealthChanges } from './health-queries.js'

export interface BackendRecorder {
  /** Keeps the newest of each agent until it is written; never waits. */
  record(agentId: number, vcls: readonly ServedVcl[]): void
  /** Writes what is waiting, once, and starts no timer any more. */
  close(): Promise<void>
}

const batchMs = 50
const retryMs = 1_000
/** Agents a transaction; each has ten backends or so. */
const agentsAtOnce = 50

export function createBackendRecorder(service: StateService, log: Logger): BackendRecorder {
  const batcher = createBatcher<BackendReport>({
    log,
    trouble: 'the health of backends cannot be written',
    waitMs: batchMs,
    retryMs,
    atOnce: agentsAtOnce,
    keyOf: ({ agentId }) => agentId,
    write: (reports) => saveBackendReports(service, reports),
  })
  return {
    record: (agentId, vcls) => {
      batcher.add({ agentId, vcls })
    },
    close: () => batcher.close(),
  }
}

/** One of each agent, at most. */
export async function saveBackendReports(
  service: Pick<StateService, 'store' | 'now'>,
  reports: readonly BackendReport[],
): Promise<void> {
  const agentIds = reports.map(({ agentId }) => agentId)
  await service.store.transaction(
    async (queries) => {
      const known = await readHealthRows(queries, agentIds)
      await writeHealthChanges(queries, findHealthChanges(known, reports, service.now()))
    },
    { durable: false },
  )
}

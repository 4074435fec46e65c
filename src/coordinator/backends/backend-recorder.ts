/**
 * Writes the agents' backend reports to the store: reports are collected for some milliseconds, because a whole fleet sees an
 * origin fail at once, and only differences are written. Reports lost in a crash are sent again when the agents reconnect.
 */
import type { Logger } from 'pino'
import type { ServedVcl } from '../../messages/backend-health.js'
import { createBatcher } from '../../runtime/batcher.js'
import type { StateService } from '../service.js'
import { findHealthChanges, type BackendReport } from './health-changes.js'
import { readHealthRows, writeHealthChanges } from './health-queries.js'

export interface BackendRecorder {
  /** Keeps the newest report of each agent until it is written; never waits. */
  record(agentId: number, vcls: readonly ServedVcl[]): void
  /** Writes the waiting reports once and starts no further timer. */
  close(): Promise<void>
}

const batchMs = 50
const retryMs = 1_000
/** Agents per transaction; each has about ten backends. */
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

/** At most one report per agent. */
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

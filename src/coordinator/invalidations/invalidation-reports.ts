/**
 * Writes reports of agents as rows: reports that arrive during one transaction are written by the next. An agent is sent more
 * only after that, so a coordinator that dies leaves at most one window per agent unrecorded.
 */
import type { Logger } from 'pino'
import { groupBy } from '../../group-by.js'
import { addExceptions, type Exception } from './invalidation.js'
import type { InvalidationResult } from '../../messages/agent-to-coordinator.js'
import { endWhatIsDone, moveCursors, type EndedEntry, type Progress } from './delivery-queries.js'
import { readOpenAt, writeExceptions } from './invalidation-queries.js'
import type { Queries } from '../store/store.js'
import type { StateService } from '../service.js'
import { observeInvalidationsDone } from './invalidation-hints.js'
import { createBatcher } from '../../runtime/batcher.js'

interface InvalidationReport {
  readonly agentId: number
  readonly results: readonly InvalidationResult[]
  readonly trouble: string | null
  /** Set of the reported entries. */
  readonly setIds: ReadonlySet<number>
}

interface InvalidationRecorder {
  /** Returns at once; `recorded` is called when the report is in the store. */
  record(report: InvalidationReport): void
  /** Writes queued reports immediately, because no other report is expected. */
  hurry(): void
  /** Writes queued reports once and stops the timer. */
  close(): Promise<void>
}

/**
 * Each transaction is followed by a pause this many times as long, so that simultaneous reports of a fleet share a few
 * transactions. A single agent that waits for room in its window gets no pause.
 */
const pausePerWriting = 3
const longestPauseMs = 20
const retryMs = 1000

export function createInvalidationRecorder(
  service: StateService,
  log: Logger,
  recorded: (agentId: number, position: number) => void,
): InvalidationRecorder {
  let isOfMany = false
  /** At most one window per agent. */
  const batcher = createBatcher<InvalidationReport>({
    log,
    trouble: 'invalidation reports cannot be written',
    waitMs: 0,
    retryMs,
    restMs: (tookMs) => (isOfMany ? Math.min(pausePerWriting * tookMs, longestPauseMs) : 0),
    write: async (reports) => {
      isOfMany = new Set(reports.map(({ agentId }) => agentId)).size > 1
      const done = await saveReports(service, reports)
      observeInvalidationsDone(service, done)
      for (const { agentId, results } of reports) recorded(agentId, results.at(-1)?.position ?? 0)
    },
  })
  return {
    record: (report) => {
      batcher.add(report)
    },
    hurry: () => {
      void batcher.flush() // never rejects
    },
    close: () => batcher.close(),
  }
}

/** Not flushed to disk: entries lost by a power cut are delivered again. Reports change rows that others change as well. */
async function saveReports(
  service: StateService,
  reports: readonly InvalidationReport[],
): Promise<readonly EndedEntry[]> {
  const now = service.now()
  const noted = reports.flatMap(({ agentId, results }) =>
    results
      .filter(({ result, error }) => result === 'failed' || error !== null)
      .map((result) => ({ ...result, agentId })),
  )
  const save = async (queries: Queries): Promise<readonly EndedEntry[]> => {
    await noteResults(queries, noted, now)
    await moveCursors(queries, joinProgress(reports), now)
    const setIds = new Set(reports.flatMap((report) => [...report.setIds]))
    return endWhatIsDone(queries, [...setIds], now)
  }
  const { store } = service
  return noted.length > 0
    ? store.decide(save, { durable: false })
    : store.transaction(save, { durable: false })
}

/** One row per agent: its newest position, and whether the last report had a fault. */
function joinProgress(reports: readonly InvalidationReport[]): readonly Progress[] {
  const byAgent = new Map<number, Progress>()
  for (const { agentId, results, trouble } of reports) {
    const position = results.at(-1)?.position ?? byAgent.get(agentId)?.position ?? 0
    byAgent.set(agentId, { agentId, position, trouble })
  }
  return [...byAgent.values()]
}

type NotedResult = InvalidationResult & { readonly agentId: number }

async function noteResults(
  queries: Queries,
  noted: readonly NotedResult[],
  at: number,
): Promise<void> {
  const byPosition = groupBy(noted, ({ position }) => position)
  for (const entry of await readOpenAt(queries, [...byPosition.keys()])) {
    const added = (byPosition.get(entry.position) ?? []).map(
      ({ result: state, error, agentId }): Exception => ({ state, error, at, agents: [agentId] }),
    )
    await writeExceptions(queries, entry.id, addExceptions(entry.exceptions, added))
  }
}

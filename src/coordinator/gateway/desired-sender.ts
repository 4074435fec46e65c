/** Sends agents their desired state: requests within some milliseconds share one query of the store and one message text. */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import { readDesiredStates, type DesiredState } from '../agents/agent-desired.js'
import { createApplyWriter, type WriteApply } from './apply-message.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export interface DesiredSender {
  /** Returns at once. `traceId` is that of the call that changed the desired state, null if unknown. */
  request(agentIds: Iterable<number>, traceId: string | null): void
  close(): Promise<void>
}

/** A deploy requests all of its agents at once; reconnecting agents are requested one by one. */
const batchMs = 5
const retryMs = 1000
/** Agents per query and per turn of the event loop: sending takes up to 100 µs each, most of it to write to the socket. */
const batchSize = 200

interface Wanted {
  readonly agentId: number
  readonly traceId: string | null
}

export function createDesiredSender(
  service: StateService,
  log: Logger,
  offer: (state: DesiredState, traceId: string, write: WriteApply) => void,
): DesiredSender {
  const batcher = createBatcher<Wanted>({
    log,
    trouble: 'desired states cannot be read',
    waitMs: batchMs,
    retryMs,
    atOnce: batchSize,
    keyOf: ({ agentId }) => agentId,
    join: (earlier, later) => (later.traceId === null ? earlier : later),
    write: async (items) => {
      const wanted = new Map(items.map(({ agentId, traceId }) => [agentId, traceId]))
      const write = createApplyWriter()
      for (const state of await readDesiredStates(service, [...wanted.keys()]))
        offer(state, wanted.get(state.agentId) ?? newTraceId(), write)
    },
  })
  return {
    request: (agentIds, traceId) => {
      for (const agentId of agentIds) batcher.add({ agentId, traceId })
    },
    close: () => batcher.drop(),
  }
}

/** Sends agents their desired state: whoever asks within some milliseconds is served by one query of the store, and one text. */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import { readDesiredStates, type DesiredState } from '../agents/agent-desired.js'
import { createApplyWriter, type WriteApply } from './apply-message.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export interface DesiredSender {
  /** Never waits. The trace id of the call that changed the desired state goes with it; null: of no known call. */
  request(agentIds: Iterable<number>, traceId: string | null): void
  close(): Promise<void>
}

/** The agents of one deploy come in one request, those that reconnect come one by one. */
const batchMs = 5
const retryMs = 1000
/** Agents a query, and a turn of the event loop: encoding and sending takes about 20 µs each. */
const batchSize = 500

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

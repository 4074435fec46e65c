/** Sends agents their desired state: whoever asks within some milliseconds is served by one query of the store. */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import { readDesiredStates, type DesiredState } from '../agents/agent-desired.js'
import type { StateService } from '../service.js'

export interface DesiredSender {
  /** Never waits. The trace id of the call that changed the desired state goes with it; null: of no known call. */
  request(agentIds: Iterable<number>, traceId: string | null): void
  close(): void
}

/** Chosen by us: the agents of one deploy come in one request, those that reconnect come one by one. */
const batchMs = 5
const retryMs = 1000
/** Agents a query, and a turn of the event loop: encoding and sending takes about 20 µs each. */
const batchSize = 500

export function createDesiredSender(
  service: StateService,
  log: Logger,
  offer: (state: DesiredState, traceId: string) => void,
): DesiredSender {
  /** By agent, one entry each. */
  const wanted = new Map<number, string | null>()
  let timer: NodeJS.Timeout | null = null
  let failing = false
  let closed = false

  return {
    request: (agentIds, traceId) => {
      for (const agentId of agentIds)
        if (traceId !== null || !wanted.has(agentId)) wanted.set(agentId, traceId)
      schedule(batchMs)
    },
    close: () => {
      closed = true
      if (timer) clearTimeout(timer)
    },
  }

  function schedule(delayMs: number): void {
    if (timer || closed || wanted.size === 0) return
    timer = setTimeout(() => {
      void sendBatch().then((nextMs) => {
        timer = null
        schedule(nextMs)
      })
    }, delayMs)
  }

  /** Answers when the next may go. Never rejects. */
  async function sendBatch(): Promise<number> {
    const batch = new Map([...wanted].slice(0, batchSize))
    for (const agentId of batch.keys()) wanted.delete(agentId)
    try {
      for (const state of await readDesiredStates(service, [...batch.keys()]))
        offer(state, batch.get(state.agentId) ?? newTraceId())
      failing = false
      return wanted.size > batchSize ? 0 : batchMs
    } catch (error) {
      if (!failing) log.error({ err: error }, 'desired states cannot be read')
      failing = true
      for (const [agentId, traceId] of batch) if (!wanted.has(agentId)) wanted.set(agentId, traceId)
      return retryMs
    }
  }
}

/** The process that sends a cache requests like a few clients, without a pause, until stopped: every response is counted. */
import { Agent, get } from 'node:http'

export interface TrafficOrder {
  readonly host: string
  readonly port: number
  /** The Host header. */
  readonly site: string
  readonly clients: number
}

/** Requests the result. */
export interface TrafficEnd {
  readonly isOver: true
}

/** Totals so far; the answer to an order can be ignored. */
export interface TrafficResult {
  readonly requests: number
  /** Answered with another status than 200, or not at all. */
  readonly failed: number
  readonly longestMs: number
}

const seen = { requests: 0, failed: 0, longestMs: 0 }
let isOn = true

process.on('message', (order: TrafficOrder | TrafficEnd) => {
  if ('isOver' in order) {
    isOn = false
    return
  }
  const agent = new Agent({ keepAlive: true, maxSockets: order.clients })
  const clients = Array.from({ length: order.clients }, () => runClient(order, agent))
  process.send?.(seen)
  void Promise.all(clients).then(() => process.send?.(seen))
})
process.once('disconnect', () => process.exit())

async function runClient(order: TrafficOrder, agent: Agent): Promise<void> {
  while (isOn) {
    const startedAt = performance.now()
    const status = await askOnce(order, agent)
    seen.requests += 1
    if (status !== 200) seen.failed += 1
    seen.longestMs = Math.max(seen.longestMs, performance.now() - startedAt)
  }
}

/** Returns the status; 0 without a complete response. */
function askOnce({ host, port, site }: TrafficOrder, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    get({ host, port, agent, headers: { host: site } }, (response) => {
      response.resume()
      response.once('end', () => {
        resolve(response.statusCode ?? 0)
      })
      response.once('error', () => {
        resolve(0)
      })
    }).once('error', () => {
      resolve(0)
    })
  })
}

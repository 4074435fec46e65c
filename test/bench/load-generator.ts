/** The process that calls the API as fast as it is answered; its parent sends one order at a time. */
import autocannon from 'autocannon'

export interface LoadOrder {
  readonly base: string
  readonly token: string
  /** Called in turn; each connection starts at another one. */
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** Answered with an error, or not at all. */
  readonly failed: number
}

process.on('message', (order: LoadOrder) => {
  void generateLoad(order).then((result) => process.send?.(result))
})
process.once('disconnect', () => process.exit())

async function generateLoad(order: LoadOrder): Promise<LoadResult> {
  const { base, token, paths, connections } = order
  const requests = paths.map((path) => ({ path: `/api/v1${path}` }))
  let clients = 0
  const {
    requests: done,
    duration,
    non2xx,
    errors,
  } = await autocannon({
    url: base,
    connections,
    duration: order.seconds,
    headers: { authorization: `Bearer ${token}` },
    setupClient: (client) => {
      const start = Math.floor((clients++ / connections) * requests.length)
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)])
    },
  })
  return { requests: done.total, seconds: duration, failed: non2xx + errors }
}

/** The process that sends a cache requests at a fixed rate, a known share of each kind, and counts the answers. */
import { Agent, request } from 'node:http'

export interface PacedOrder {
  readonly host: string
  readonly port: number
  /** The Host header. */
  readonly site: string
  readonly perSecond: number
  readonly seconds: number
}

export interface PacedResult {
  readonly requests: number
  /** Answered 503. */
  readonly refused: number
  /** Not answered at all. */
  readonly failed: number
}

const tickMs = 10
/** Of every 20 requests the VCL refuses one, and four are for new pages. */
const [refusedEvery, newEvery] = [20, 5]
const hotPages = 50

process.on('message', (order: PacedOrder) => {
  void sendPaced(order).then((result) => process.send?.(result))
})
process.once('disconnect', () => process.exit())

async function sendPaced({ host, port, site, perSecond, seconds }: PacedOrder) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const counts = { requests: 0, refused: 0, failed: 0 }
  const answers: Promise<void>[] = []
  const startedAt = performance.now()
  for (let sent = 0, now = startedAt; now < startedAt + seconds * 1000; now = performance.now()) {
    const due = Math.floor(((now - startedAt) / 1000) * perSecond)
    for (; sent < due; sent += 1) answers.push(ask(pathOf(sent)))
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  await Promise.all(answers)
  agent.destroy()
  return counts satisfies PacedResult

  function ask(path: string): Promise<void> {
    return new Promise((resolve) => {
      counts.requests += 1
      const fail = (): void => {
        counts.failed += 1
        resolve()
      }
      request({ host, port, path, agent, headers: { host: site } }, (response) => {
        if (response.statusCode === 503) counts.refused += 1
        response.resume()
        response.once('end', resolve)
        response.once('error', fail)
      })
        .once('error', fail)
        .end()
    })
  }
}

const run = Date.now()

function pathOf(number: number): string {
  if (number % refusedEvery === 0) return '/refused'
  return number % newEvery === 1 ? `/new/${run}/${number}` : `/hot/${number % hotPages}`
}

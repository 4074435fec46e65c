/**
 * The process that sends a cache requests faster than an HTTP library can: whole batches on a few connections. Its parent sets the rate
 * and the duration. One request in a hundred has the time in its path, so that the parent knows when it was sent.
 */
import { connect, type Socket } from 'node:net'

export interface RawTrafficOrder {
  readonly host: string
  readonly port: number
  /** Infinity, as null in JSON: at the cache's maximum rate. */
  readonly perSecond: number | null
  readonly seconds: number
}

export interface RawTrafficResult {
  /** Answered requests. */
  readonly perSecond: number
}

/** Start of paths with a time: milliseconds since 1970 follow. */
export const markedPath = '/marked/'
const connections = 8
const batch = 20
const tickMs = 10
const markedEvery = 100
const statusLine = Buffer.from('HTTP/1.1 200')

process.on('message', (order: RawTrafficOrder) => {
  void sendTraffic(order).then((result) => process.send?.(result))
})
process.once('disconnect', () => process.exit())

async function sendTraffic(order: RawTrafficOrder): Promise<RawTrafficResult> {
  const { host, port, perSecond, seconds } = order
  let [sent, answered] = [0, 0]
  const write = (socket: Socket, count: number): void => {
    const requests = Array.from({ length: count }, () => {
      sent += 1
      const path = sent % markedEvery === 0 ? `${markedPath}${Date.now()}` : `/${sent % 100}`
      return `GET ${path} HTTP/1.1\r\nHost: shop.example\r\n\r\n`
    })
    socket.write(requests.join(''))
  }
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(port, host)
    let waiting = 0
    socket.on('data', (chunk) => {
      const count = countAnswers(chunk)
      answered += count
      waiting -= count
      if (perSecond === null && waiting < batch) {
        waiting += batch
        write(socket, batch)
      }
    })
    if (perSecond === null) {
      waiting = batch
      write(socket, batch)
    }
    return socket
  })
  const startedAt = performance.now()
  const timer = setInterval(() => {
    if (perSecond === null) return
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) - sent
    for (const socket of sockets) write(socket, Math.floor(due / connections))
  }, tickMs)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  clearInterval(timer)
  const tookMs = performance.now() - startedAt
  for (const socket of sockets) socket.destroy()
  return { perSecond: answered / (tookMs / 1000) }
}

/** An answer split over two chunks is not counted, which is negligible. */
function countAnswers(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(statusLine); at >= 0; at = chunk.indexOf(statusLine, at + 1)) count++
  return count
}

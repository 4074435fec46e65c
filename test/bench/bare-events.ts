/** The minimum cost of notifying a thousand subscribers: node:http writes one text to every open request. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const listeners = new Set<ServerResponse>()
const server = createServer((call, answer) => {
  if (call.method === 'GET') {
    answer.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    listeners.add(answer)
    return
  }
  const text: string[] = []
  call
    .setEncoding('utf8')
    .on('data', (piece: string) => text.push(piece))
    .on('end', () => {
      const event = Buffer.from(`id: 1\nevent: agent\ndata: ${text.join('')}\n\n`)
      for (const listener of listeners) listener.write(event)
      answer.end()
    })
})
process.once('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  process.send?.({ base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }) // TCP
})

/** The agent's socket sends messages together. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { WebSocketServer, type WebSocket } from 'ws'
import { dialCoordinator, sendTogether } from '../../src/agent/link/dial.js'

await t.test('a heartbeat and the ping after it reach the coordinator in one read', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    server.close()
    await once(server, 'close')
  })
  await once(server, 'listening')
  let reads = 0
  let heard = 0
  server.on('connection', (socket: WebSocket, { socket: stream }: IncomingMessage) => {
    stream.on('data', () => (reads += 1))
    socket.on('message', () => (heard += 1))
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  const socket = await dialCoordinator({
    address: { url: `ws://127.0.0.1:${port}`, caFile: null },
    name: 'edge',
    key: 'a-key',
    joinToken: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
  })
  t.teardown(() => {
    socket.terminate()
  })

  for (let beat = 0; beat < 20; beat++) {
    sendTogether(socket, () => {
      socket.send('a heartbeat')
      socket.ping()
    })
    await once(socket, 'pong')
  }

  t.same({ heard, reads }, { heard: 20, reads: 20 })
  t.throws(() => {
    sendTogether(socket, () => {
      throw new Error('not encoded')
    })
  }, /not encoded/)
  socket.ping()
  await once(socket, 'pong')
})

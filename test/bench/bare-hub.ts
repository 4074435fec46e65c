/**
 * The process of `bare-deploy.ts` in place of a coordinator: a WebSocket server that sends every client one message and
 * reads its answer, twice, and writes the rows a deploy needs into SQLite. It decides nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocketServer, type WebSocket } from 'ws'
import { BetterSqlite3 } from '../../src/coordinator/store/sqlite-library.js'

/** From the hub at its start, and after each round. */
export interface HubAnswer {
  readonly url: string
  readonly tookMs: number
}

/** To the hub: make one deploy, or send every client this message and wait for the answers. */
export type HubOrder =
  | {
      /** Content of `desired`, as long as a real one. */
      readonly desired: object
    }
  | { readonly message: object }

const folder = mkdtempSync(join(tmpdir(), 'cachefleet-bare-'))
const file = new BetterSqlite3(join(folder, 'bare.db'))
file.pragma('journal_mode = WAL')
file.pragma('synchronous = FULL')
file.exec('create table places (id integer primary key, state text, revision integer) strict')
const write = file.prepare('insert or replace into places values (?, ?, ?)')

const clients: WebSocket[] = []
let answered = 0
let wake: () => void = () => undefined
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (client) => {
  clients.push(client)
  client.on('message', (data: Buffer) => {
    JSON.parse(data.toString())
    answered += 1
    if (answered === clients.length) wake()
  })
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo // it listens on TCP
  say(0, `ws://127.0.0.1:${port}`)
})
process.on('message', (order: HubOrder) => {
  void ('desired' in order ? deploy(order.desired) : fanOut(order.message))
})
process.once('disconnect', () => {
  rmSync(folder, { recursive: true, force: true })
  process.exit()
})

async function deploy(desired: object): Promise<void> {
  const startedAt = performance.now()
  for (const phase of ['load', 'switch']) {
    save(phase)
    await broadcast({ kind: 'apply', revision: 1, desired: { ...desired, phase } })
    save(`${phase}ed`)
  }
  say(performance.now() - startedAt, '')
}

async function fanOut(message: object): Promise<void> {
  const startedAt = performance.now()
  await broadcast(message)
  say(performance.now() - startedAt, '')
}

/** One durable transaction, one row per client. */
function save(state: string): void {
  file.transaction(() => {
    clients.forEach((_, id) => write.run(id, state, 1))
  })()
}

async function broadcast(message: object): Promise<void> {
  answered = 0
  const all = new Promise<void>((resolve) => (wake = resolve))
  for (const client of clients) client.send(JSON.stringify(message))
  await all
}

function say(tookMs: number, url: string): void {
  const answer: HubAnswer = { url, tookMs }
  process.send?.(answer)
}

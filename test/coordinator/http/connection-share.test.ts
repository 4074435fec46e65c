/** One address cannot hold all connections of the listener: Network, idle sockets. */
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import type { HandleUpgrade } from '../../../src/coordinator/http/upgrades.js'
import { eventually } from '../../support/eventually.js'
import { root } from '../../support/root.js'
import { startController, type Controller } from '../../support/start-controller.js'
import { openLine, type Line, type LineSetup } from './line.js'
import { startThings } from './things.js'

const share = 3
const upgrade =
  'GET /agent/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** Takes the socket as the agent gateway does, until the other side ends it. */
const takeUp: HandleUpgrade = (_request, socket) => {
  socket.on('end', () => socket.end()).resume()
  socket.write('HTTP/1.1 101 x\r\n\r\n')
}

function openMany(t: Test, base: { readonly base: string }, setup?: LineSetup): Promise<Line[]> {
  return Promise.all(Array.from({ length: 10 }, () => openLine(t, base, setup)))
}

function alive(lines: readonly Line[]): Line[] {
  return lines.filter(({ socket }) => !socket.closed)
}

/** Returns the status of a call on its own connection; rejects when the connection is cut. */
function ask({ base }: Controller, localAddress: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(`${base}/healthz`, { agent: false, localAddress })
    call.once('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    call.once('error', reject)
    call.end()
  })
}

void t.test('an address has its share of connections; others are unaffected', async (t) => {
  const controller = await startController(t, { http: { connectionsPerAddress: share } })
  const lines = await openMany(t, controller)

  const held = await eventually('connections over the share are closed', () => {
    const left = alive(lines)
    return left.length <= share ? left : null
  })

  t.equal(held.length, share)
  const [refused] = lines.filter(({ socket }) => socket.closed)
  t.match(
    refused?.heard(),
    /^HTTP\/1\.1 429 .*Retry-After: 1.*"errorMsg":"there are 3 connections/s,
  )
  t.equal(await ask(controller, '127.0.0.2'), 200)
  const told = controller.lines.filter(({ level }) => level === 40)
  t.match(told, [{ network: '127.0.0.1', most: share, msg: /--connections-per-address/ }])
  for (const { socket } of held) socket.destroy()
  await eventually('there is room again', async () => (await ask(controller, '127.0.0.1')) === 200)
})

void t.test('agent links and uncounted networks do not use up the share', async (t) => {
  const controller = await startController(t, { http: { connectionsPerAddress: share } })
  controller.http.onUpgrade(takeUp)
  const links: Line[] = []
  for (let count = 0; count < 10; count++) {
    const link = await openLine(t, controller, { text: upgrade })
    await eventually('the link is upgraded', () => link.heard().includes('101'))
    links.push(link)
  }
  t.equal(await ask(controller, '127.0.0.1'), 200)
  t.equal(alive(links).length, links.length)

  const trusting = await startController(t, {
    http: { connectionsPerAddress: share, uncountedNetworks: ['127.0.0.0/30', '::1'] },
  })
  const many = await openMany(t, trusting, { from: '127.0.0.2' })
  t.equal(await ask(trusting, '127.0.0.2'), 200)
  t.equal(alive(many).length, many.length)
  const strange = await openMany(t, trusting, { from: '127.0.0.9' })
  await eventually('other networks are counted', () => alive(strange).length === share)
})

void t.test('the share also applies over TLS', async (t) => {
  const fixtures = join(root, 'test/fixtures/tls')
  const tls = { certFile: join(fixtures, 'one.crt'), keyFile: join(fixtures, 'one.key') }
  const things = await startThings({ tls, connectionsPerAddress: share })
  t.teardown(() => things.http.close())
  things.http.onUpgrade(takeUp)
  const port = Number(new URL(things.base).port)
  const open = () => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  for (let count = 0; count < 5; count++) {
    const link = open()
    t.teardown(() => link.destroy())
    link.write(upgrade)
    t.match(String(await once(link, 'data')), '101')
  }
  const lines = await openMany(t, things)
  await eventually('connections over the share are closed', () => alive(lines).length === share)
})

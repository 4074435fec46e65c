/** A cache that is absent, talks nonsense, hangs or hangs up makes an agent Failing, never dead, and it recovers by itself. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import t from 'tap'
import { pino } from 'pino'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { awaitCache } from '../../src/agent/engine/cache-return.js'
import { Engine } from '../../src/agent/engine/engine.js'
import { eventually } from '../support/eventually.js'
import { idle } from './cache-sight.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { makeFolder, runTestAgent } from './run-agent.js'

const secret = Buffer.from('the secret of this cache\n')

/** What answers instead of the cache. */
const faults: Record<string, ((socket: Socket) => void) | null> = {
  'is absent': null,
  'answers garbage': (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'greets and hangs': (socket) =>
    socket.write(`107 59      \n${'a'.repeat(32)}\n\nAuthentication required.\n\n`),
  'closes at once': (socket) => socket.end(),
  'answers with another status': (socket) => socket.write('300 4       \nNope\n'),
  'announces an endless reply': (socket) => socket.write('107 99999999\nxxxx'),
  'is open to all and closes after each command': (socket) => {
    socket.write('200 2       \nHi\n')
    socket.on('data', () => socket.end('200 6       \nPONG 1\n'))
  },
  'answers nonsense to all but ping': talkNonsense,
}

/** In the right form. */
function talkNonsense(socket: Socket): void {
  const texts = ['null', '[2, ["x"], 1, {}]', `[2, ["x"], 1, ${'['.repeat(50_000)}`, 'a\0b', '']
  const say = (text: string): void => {
    socket.write(`200 ${String(text.length).padEnd(8)}\n${text}\n`)
  }
  say('varnish-7.1.1 revision 1')
  let count = 0
  socket.on('data', (bytes) => {
    for (const line of bytes.toString('latin1').split('\n').filter(Boolean))
      say(line === 'ping' ? 'PONG 1 1.0' : (texts[count++ % texts.length] ?? ''))
  })
}

for (const [what, behave] of Object.entries(faults))
  void t.test(`a cache that ${what}`, async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const folder = await makeFolder(t)
    const secretFile = join(folder, 'secret')
    await writeFile(secretFile, secret)
    const broken = await listen(behave ?? (() => undefined))
    const { port } = broken
    if (!behave) await broken.close()
    const engine = { host: '127.0.0.1', port, secretFile, workingDirectory: null }
    const agent = await runTestAgent(t, coordinator, { mode: 'attach', ...engine })
    await eventually('linked', () => agent.isLinked())

    const condition = await eventually('a reason', () => {
      const seen = coordinator.condition()
      return seen?.engineState !== 'running' && seen?.engineError ? seen : null
    })
    t.not(condition.engineState, 'running')
    const refused = await coordinator.apply(1, idle)
    t.match(refused, { result: 'failed', loaded: [], changed: false })
    t.ok(refused.error, 'it says why')
    const answer = await coordinator.ask({ kind: 'query', query: 'vcls' })
    t.match(answer, { result: 'failed', value: null })

    await broken.close()
    const cache = createSimulatedEngine({ secret })
    const listening = await cache.listen('127.0.0.1', port)
    t.teardown(async () => {
      await listening.close()
      cache.close()
    })
    await eventually('running', () => coordinator.condition()?.engineState === 'running')
    await eventually('healed', () => coordinator.condition()?.effectiveRevision === 1)
    t.match(
      coordinator.received.findLast((one) => one.kind === 'applyReport'),
      {
        result: 'applied',
        revision: 1,
      },
    )
  })

interface Listening {
  readonly port: number
  close(): Promise<void>
}

async function listen(behave: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    behave(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP
  return {
    port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

void t.test('who ends waits for no connection that it closed itself', async (t) => {
  const port = { mode: 'attach', host: '127.0.0.1', port: 9, secretFile: '/nowhere' } as const
  const engine = new Engine(port, pino({ level: 'silent' }))
  await engine.stop()
  const polls: number[] = []
  const isBack = await awaitCache({ engine }, () => polls.push(1) > 1)
  t.equal(isBack, false)
  t.same(polls, [])
})

/**
 * The management engine on one connection, against a loop over a bare socket that does only what the wire needs: the same
 * commands to the same real cache, alternating.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type * as BanModule from '../../protocol/commands/ban.js'
import type * as ProcessModule from '../../protocol/commands/process.js'
import type * as ConnectionModule from '../../protocol/connection.js'
import type { TestEnd } from '../support/daemon.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { loadBuilt } from './built.js'
import { compareRates, median, type Report } from './figure.js'

/** Not counted: the first commands run uncompiled. */
const warmupRounds = 2
const rounds = 40
const commandsPerRound = 1_000
const window = 8
const leastRatio = 0.9

interface Contest {
  readonly name: string
  readonly ours: () => Promise<unknown>
  readonly bare: () => Promise<unknown>
}

export async function measureEngine(t: TestEnd, report: Report): Promise<void> {
  // Without a secret, so that the bare loop needs no handshake, which is not measured.
  const cache = await startVarnishd(t, { secret: null })
  const { connection, ping, ban } = await openOurs(t, cache)
  const bare = await openBare(t, cache)
  const numbers = Array.from({ length: commandsPerRound }, (_, at) => String(at))
  const contests: readonly Contest[] = [
    {
      name: 'engine: ping, one by one',
      ours: async () => {
        for (let at = 0; at < commandsPerRound; at++) await connection.run(ping())
      },
      bare: () => runBare(bare, { line: () => 'ping\n', window: 1 }),
    },
    {
      name: `engine: ping, window of ${window}`,
      ours: () => connection.runAll(numbers.map(ping), { window }),
      bare: () => runBare(bare, { line: () => 'ping\n', window }),
    },
    {
      name: `engine: ban, window of ${window}`,
      ours: () =>
        connection.runAll(
          numbers.map((value) => ban([{ field: 'obj.http.x-article', operator: '==', value }])),
          { window },
        ),
      bare: () => runBare(bare, { line: (at) => `ban obj.http.x-article == ${at}\n`, window }),
    },
  ]
  for (const contest of contests) await compare(contest, report)
}

async function openOurs(t: TestEnd, { host, port }: Varnishd) {
  const [{ connectManagementPort }, { ping }, { ban }] = await Promise.all([
    loadBuilt<typeof ConnectionModule>('protocol/connection.js'),
    loadBuilt<typeof ProcessModule>('protocol/commands/process.js'),
    loadBuilt<typeof BanModule>('protocol/commands/ban.js'),
  ])
  const secret = () => Promise.reject(new Error('the cache asks for no secret'))
  const connection = await connectManagementPort({ host, port, secret })
  t.teardown(async () => {
    connection.close()
    await connection.closed
  })
  return { connection, ping, ban }
}

async function openBare(t: TestEnd, { host, port }: Varnishd): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true })
  t.teardown(() => {
    socket.destroy()
    return Promise.resolve()
  })
  await once(socket, 'data') // the banner
  return socket
}

interface BareRun {
  /** Ends with a line feed. */
  readonly line: (at: number) => string
  readonly window: number
}

/** Each reply releases the next command; those released by one packet are sent in one piece. Rejects when one is refused. */
function runBare(socket: Socket, run: BareRun): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    let answered = 0
    let rest: Buffer = Buffer.alloc(0)
    const send = (count: number): void => {
      let text = ''
      for (const last = Math.min(sent + count, commandsPerRound); sent < last; sent++)
        text += run.line(sent)
      // The empty line carries the acknowledgement that the cache's Nagle algorithm waits for, as in ours (protocol/connection.ts).
      socket.write(text === '' ? '\n' : text, 'latin1')
    }
    const read = (chunk: Buffer): void => {
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const before = answered
      let offset = 0
      while (data.length - offset >= 13) {
        const end = offset + 13 + Number(data.toString('latin1', offset + 4, offset + 12)) + 1
        if (data.length < end) break
        if (data.toString('latin1', offset, offset + 3) !== '200') reject(new Error('refused'))
        answered += 1
        offset = end
      }
      rest = data.subarray(offset)
      if (answered < commandsPerRound) send(answered - before)
      else {
        socket.off('data', read)
        resolve()
      }
    }
    socket.on('data', read)
    send(run.window)
  })
}

interface Cost {
  readonly perSecond: number
  /** Of this process, user and system, in µs per command. */
  readonly cpuUs: number
}

async function compare({ name, ours, bare }: Contest, report: Report): Promise<void> {
  const costs: { readonly ours: Cost; readonly bare: Cost }[] = []
  for (let round = -warmupRounds; round < rounds; round++) {
    // The order alternates, so that neither always finds the machine as the other left it.
    const first = round % 2 === 0 ? await measure(ours) : null
    const cost = { bare: await measure(bare), ours: first ?? (await measure(ours)) }
    if (round >= 0) costs.push(cost)
  }
  report(
    compareRates({
      name,
      unit: 'commands/s',
      baselineName: 'bare socket',
      pairs: costs.map((cost) => ({ ours: cost.ours.perSecond, bare: cost.bare.perSecond })),
      leastRatio,
    }),
  )
  const cpu = {
    ours: median(costs.map((cost) => cost.ours.cpuUs)),
    bare: median(costs.map((cost) => cost.bare.cpuUs)),
  }
  report({
    name: `${name}: CPU`,
    measured: `${cpu.ours.toFixed(0)} µs/command`,
    baseline: `bare socket ${cpu.bare.toFixed(0)}`,
    ratio: cpu.ours / cpu.bare,
    goal: null,
  })
}

async function measure(run: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await run()
  const tookMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    perSecond: (commandsPerRound / tookMs) * 1000,
    cpuUs: (user + system) / commandsPerRound,
  }
}

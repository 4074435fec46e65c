/**
 * A thousand bans for two caches, while agents, coordinators, connections, the caches' children and managers are killed at random:
 * each cache receives all of them in order, except those reported as expired. A cache may only miss bans from before it started
 * empty.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { answering } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import type { CallAnswer } from '../support/http-call.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startManagementProxy, type ManagementProxy } from '../support/management-proxy.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { readInvalidation } from './invalidation-calls.js'
import { parallel } from '../support/parallel.js'
import { startCoordinators, untilAgent, ways } from './harness.js'

/** One of this many bans expires a second after its creation, unless every cache has it by then. */
const hastyOf = 10
const windowEntries = 64
const victims = ['agent', 'agent', 'coordinator', 'coordinator', 'connection', 'child', 'manager']
/** Determines the victims and their times; another seed draws another order. */
const seed = Number(process.env['TEST_SEED'] ?? 20_261_120)

interface Strike {
  readonly victim: string
  /** The number of acknowledged entries before the kill. */
  readonly after: number
  /** The index of the cache (or its agent), or of the coordinator. */
  readonly at: number
}

interface Node {
  readonly name: string
  readonly cache: Varnishd
  readonly port: ManagementProxy
  agent: Daemon
  startAgent(): void
}

/** By the number of coordinators. */
const entriesOf = { 1: 1000, 2: 300 }

/** In parallel: most of the time is waiting. */
t.jobs = 2
for (const [way, count] of ways)
  void t.test(`no ban is skipped or overtaken, ${way}`, parallel(), async (t) => {
    const entries = entriesOf[count]
    const coordinators = await startAll(t, count)
    const [first] = coordinators
    const nodes = await Promise.all(['a', 'b'].map((name) => startNode(t, coordinators, name)))
    for (const { name } of nodes) await untilAgent(first, 'Running', name)
    for (const { port } of nodes) port.forget()
    const strikes = drawStrikes(count, entries)
    t.comment(`seed ${seed}: ${strikes.map(describeStrike).join(', ')}`)

    let striking = Promise.resolve()
    const acknowledged: number[] = []
    for (let number = 1; number <= entries; number++) {
      acknowledged.push(await logBan(coordinators, number, number === entries))
      for (const strike of strikes.filter(({ after }) => after === number))
        striking = striking.then(() => strikeAt(coordinators, nodes, strike))
    }
    await striking

    const { api } = first
    await eventually('all have ended', async () => (await list(api, openStates)).length === 0)
    for (const { name } of nodes) await untilAgent(first, 'Running', name)
    const failed = await list(api, 'Failed')
    const ended = new Set([...(await list(api, 'Completed')), ...failed])
    t.strictSame(
      acknowledged.filter((id) => !ended.has(id)),
      [],
      'each acknowledged ban is done, or reported as failed',
    )
    const expired = await readExpired(t, api, failed)
    for (const [at, node] of nodes.entries()) {
      const exempt = new Set(
        acknowledged.flatMap((id, index) => (expired.get(node.name)?.has(id) ? [index + 1] : [])),
      )
      const own = strikes.filter((strike) => strike.at === at)
      checkOrder(t, node, { entries, strikes: own, exempt })
    }
  })

/** The first one is queried at the end. */
type Coordinators = readonly [CoordinatorProcess, ...CoordinatorProcess[]]

async function startAll(t: Test, count: 1 | 2): Promise<Coordinators> {
  const words = ['--no-agent', '--heartbeat', '1']
  if (count === 1) return [await startCoordinator(t, { words })]
  const [one, two] = await startCoordinators(t, words)
  return [one, two]
}

/** Different for each number of coordinators. */
function drawStrikes(way: number, entries: number): readonly Strike[] {
  const order = fc.shuffledSubarray(victims, { minLength: victims.length })
  const moment = fc.record({
    after: fc.noBias(fc.integer({ min: 50, max: entries - 50 })),
    at: fc.noBias(fc.nat({ max: 1 })),
  })
  const moments = fc.array(moment, { minLength: victims.length, maxLength: victims.length })
  const [drawn] = fc.sample(fc.tuple(order, moments), { seed: seed + way, numRuns: 1 })
  const [names = [], times = []] = drawn ?? []
  return times
    .toSorted((a, b) => a.after - b.after)
    .map((time, index) => ({ ...time, victim: names[index] ?? '' }))
}

function describeStrike({ victim, after, at }: Strike): string {
  return `${after} ${victim} ${at}`
}

interface Allowed {
  readonly entries: number
  /** At this cache. */
  readonly strikes: readonly Strike[]
  /** Numbers of the bans that expired here. */
  readonly exempt: ReadonlySet<number>
}

function checkOrder(t: Test, { name, port }: Node, { entries, strikes, exempt }: Allowed): void {
  const seen = port.commands.flatMap((line) => /x-number == (\d+)/.exec(line)?.[1] ?? [])
  const { newest, gaps, overtaken, back, known } = judgeOrder(seen.map(Number), exempt)
  const emptied = strikes.filter(({ victim }) => victim === 'child' || victim === 'manager').length
  t.equal(newest, entries, `${name} got the last one`)
  t.ok(gaps <= emptied, `${name}: ${gaps} gaps, and ${emptied} times its cache started empty`)
  t.strictSame(overtaken, [], `${name}: none was overtaken`)
  t.ok(back <= windowEntries, `${name}: ${back} again: no more than a window is repeated`)
  const repeats = seen.length - known
  t.ok(repeats <= 2 * victims.length * windowEntries, `${name}: ${repeats} repeats`)
}

/**
 * An entry from the moment in which a cache started empty may be skipped at first, and sent when all are repeated: then the entries
 * before it must be repeated after it, or they were overtaken.
 */
function judgeOrder(seen: readonly number[], exempt: ReadonlySet<number>) {
  const known = new Set<number>()
  const passedOver = new Set(exempt)
  const overtaken: number[] = []
  let [newest, before, gaps, back] = [0, 0, 0, 0]
  let isLate = false
  for (const number of seen) {
    const between = Array.from(
      { length: Math.max(0, number - before - 1) },
      (_, n) => before + n + 1,
    )
    const missing = between.filter((one) => !passedOver.has(one))
    if (isLate && missing.some((one) => one <= newest)) overtaken.push(before)
    isLate = number < newest && !known.has(number)
    const skipped = missing.filter((one) => one > newest)
    if (skipped.length > 0) gaps += 1
    for (const one of skipped) passedOver.add(one)
    if (number <= newest) back = Math.max(back, [...known].filter((one) => one >= number).length)
    newest = Math.max(newest, number)
    before = number
    known.add(number)
  }
  if (isLate) overtaken.push(before)
  return { newest, gaps, overtaken, back, known: known.size }
}

/** Calls the coordinators in turn until one acknowledges the ban; returns its id. */
async function logBan(
  coordinators: Coordinators,
  number: number,
  isLast: boolean,
): Promise<number> {
  let turn = number
  const body = {
    type: 'ban',
    expression: `obj.http.x-number == ${number}`,
    target: { all: true },
    ...(number % hastyOf === 0 && !isLast ? { ttl: 1 } : {}),
  }
  const answer = await eventually(`ban ${number} is acknowledged`, async () => {
    const { api } = coordinators[turn++ % coordinators.length] ?? coordinators[0]
    const given: CallAnswer | null = await api
      .call('POST', '/invalidations', body)
      .catch(() => null)
    return given?.status === 202 ? given : undefined
  })
  return (JSON.parse(answer.text) as { id: number }).id // of the API
}

const openStates = 'Running,Retrying,Waiting'

/** Returns ids. */
async function list(api: ApiClient, stateNames: string): Promise<number[]> {
  const { text } = await api.call('GET', `/invalidations?stateName=${stateNames}`)
  return (JSON.parse(text) as { id: number }[]).map(({ id }) => id) // of the API
}

/** Ids by agent; every result other than done must be expired. */
async function readExpired(
  t: Test,
  api: ApiClient,
  failed: readonly number[],
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const expired = new Map<string, Set<number>>()
  const others = new Set<string>()
  for (const id of failed)
    for (const { agent, state } of (await readInvalidation(api, id)).results) {
      if (state === 'expired')
        expired.set(agent.name, (expired.get(agent.name) ?? new Set()).add(id))
      else if (state !== 'done') others.add(`${id}: ${state}`)
    }
  t.strictSame([...others], [], `${failed.length} expired, none was refused`)
  return expired
}

async function startNode(t: Test, coordinators: Coordinators, name: string): Promise<Node> {
  const cache = await startVarnishd(t, { vcl: answering(name) })
  const port = await startManagementProxy(t, cache)
  const stateDir = await makeStateDir(t)
  const coordinatorUrl = coordinators.map(({ base }) => base.replace('http', 'ws')).join()
  const setup = { coordinatorUrl, name, stateDir, port: port.port }
  const launch = (joinToken?: string): Daemon =>
    startAgent(t, cache, { ...setup, ...(joinToken === undefined ? {} : { joinToken }) })
  const node: Node = {
    name,
    cache,
    port,
    agent: launch(await coordinators[0].api.makeJoinToken()),
    startAgent: () => {
      node.agent = launch()
    },
  }
  return node
}

async function strikeAt(
  coordinators: Coordinators,
  nodes: readonly Node[],
  { victim, at }: Strike,
): Promise<void> {
  const node = nodes[at]
  if (!node) throw new Error(`there is no cache ${at}`)
  const { cache, port } = node
  switch (victim) {
    case 'agent':
      await node.agent.kill()
      node.startAgent()
      return
    case 'coordinator': {
      const coordinator = coordinators[at % coordinators.length] ?? coordinators[0]
      await coordinator.daemon.kill()
      await coordinator.start()
      return
    }
    case 'connection':
      port.setFault('close')
      port.setFault('none')
      return
    case 'child': {
      const pid = await cache.childPid()
      if (pid !== null) process.kill(pid, 'SIGKILL')
      return
    }
    default:
      await cache.stop('SIGKILL')
      await cache.restart()
  }
}

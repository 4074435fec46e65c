/** A thousand subscriptions to events: their cost for a coordinator, and how soon all of them receive a change. */
import { setTimeout as pause } from 'node:timers/promises'
import { logIn, type ApiClient } from '../support/api-client.js'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startChild, type Child } from './child.js'
import type { ListenAnswer, ListenOrder } from './event-listeners.js'
import { formatMegabytes, formatMs, median, quantile, type Report } from './figure.js'
import { readResidentBytes } from './process-reading.js'

const listeners = 1_000
/** Per account: below the limit of an account. */
const listenersEach = 50
const rounds = 20
const memoryGoalBytes = 100e6
const settleMs = 2_000
const password = 'long enough a word'

type Listeners = Child<ListenOrder, ListenAnswer>

export async function measureEvents(t: TestEnd, report: Report): Promise<void> {
  const coordinator = await startCoordinator(t, { words: ['--engine', 'simulate'] })
  const { base, api, daemon } = coordinator
  const agentId = await eventually('the local agent', async () => (await api.listAgents())[0]?.id)
  const tags = [await api.makeTag('one'), await api.makeTag('two')]
  const accounts = await makeAccounts(base, api, listeners / listenersEach)
  const ours = await listenTo(t, daemon.pid, `${base}/api/v1/events`, accounts)
  const bare = startChild<never, { readonly base: string }>(t, 'bare-events.ts')
  const bareBase = (await bare.receive()).base
  const bareOnes = await listenTo(t, bare.pid, bareBase, accounts)
  report({
    name: `events: memory of ${listeners} listeners`,
    measured: formatMegabytes(ours.bytes),
    baseline: `bare node:http ${formatMegabytes(bareOnes.bytes)}`,
    ratio: ours.bytes / bareOnes.bytes,
    goal: `<= ${formatMegabytes(memoryGoalBytes)}`,
    isMet: ours.bytes <= memoryGoalBytes,
  })

  const tookMs: number[] = []
  const bareMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const tag = { id: tags[round % 2] ?? 0 }
    const text = `"name":"${round % 2 === 0 ? 'one' : 'two'}"`
    tookMs.push(
      await timeEvent(ours.child, text, () =>
        api.call('PUT', `/agents/${agentId}`, { tags: [tag] }),
      ),
    )
    const { text: body } = await api.call('GET', `/agents/${agentId}`)
    bareMs.push(
      await timeEvent(bareOnes.child, text, () => fetch(bareBase, { method: 'POST', body })),
    )
  }
  report({
    name: `events: from a call until all ${listeners} heard of it, p95`,
    measured: formatMs(quantile(tookMs, 0.95)),
    baseline: `bare node:http ${formatMs(quantile(bareMs, 0.95))}; median ${formatMs(median(tookMs))}`,
    ratio: median(tookMs) / median(bareMs),
    goal: null,
  })
}

/** In one organization, which sees the coordinator's own agent; returns their tokens. */
async function makeAccounts(base: string, api: ApiClient, count: number): Promise<string[]> {
  const made = async (path: string, body: unknown) => {
    const answer = await api.call('POST', path, body)
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return (JSON.parse(answer.text) as { id: number }).id // all created objects have an id
  }
  const quotas = { listeners: 2 * listeners }
  const organization = { id: await made('/organizations', { name: 'bench', quotas }) }
  const tokens: string[] = []
  for (let at = 0; at < count; at++) {
    const user = `listener-${at}`
    const account = { id: await made('/accounts', { name: user, password, organization }) }
    // The first one is its administrator.
    if (at > 0)
      await made('/permissions', { account, organization, type: 'agent', read: true, write: false })
    tokens.push((await logIn(base, { user, password, org: 'bench' })).token)
  }
  return tokens
}

async function listenTo(t: TestEnd, pid: number, url: string, tokens: readonly string[]) {
  const child: Listeners = startChild(t, 'event-listeners.ts')
  await pause(settleMs)
  const before = await readResidentBytes(pid)
  const each = tokens.flatMap((token) => Array<string>(listenersEach).fill(token))
  await child.ask({ kind: 'listen', url, tokens: each })
  await pause(settleMs)
  return { child, bytes: (await readResidentBytes(pid)) - before }
}

async function timeEvent(
  child: Listeners,
  text: string,
  cause: () => Promise<unknown>,
): Promise<number> {
  await child.ask({ kind: 'wait', text })
  const all = child.receive()
  const startedAt = performance.timeOrigin + performance.now()
  await cause()
  return (await all).at - startedAt
}

/** Lists of a fleet of 10,000: a page filtered by tag, and the whole list sent in pieces; heartbeats are written meanwhile. */
import { logIn } from '../support/api-client.js'
import { administrator, type TestEnd } from '../support/daemon.js'
import { rackSize, type ConstantPayloads, type ServerReady } from './api-fleet.js'
import { startChild } from './child.js'
import { formatMs, median, quantile, type Report } from './figure.js'

const fleetSize = 10_000
const pageSize = 50
const calls = 60
const rounds = 10
/** A list that somebody waits for. */
const pageMostMs = 50
/** Long lists are sent in pieces, so that nothing holds up the event loop for longer. */
const heldMostMs = 20

export async function measureLists(t: TestEnd, report: Report): Promise<void> {
  const server = startChild<ConstantPayloads, ServerReady>(t, 'api-server.ts', [String(fleetSize)])
  const { base } = await server.receive()
  const { token } = await logIn(base, administrator)
  const read = async (path: string): Promise<{ text: string; ms: number }> => {
    const startedAt = performance.now()
    const answer = await fetch(`${base}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
    return { text, ms: performance.now() - startedAt }
  }
  const page = await read(`/agents?take=${pageSize}`)
  const payloads = { one: null, list: JSON.parse(page.text) as unknown[] } // a list of the API
  await server.ask(payloads)

  for (const [tag, bearers] of [
    ['rack', rackSize],
    ['production', fleetSize],
  ] as const) {
    const times: { readonly ours: number; readonly bare: number }[] = []
    for (let call = 0; call < calls; call++)
      times.push({
        bare: (await read(`/constants?take=${pageSize}`)).ms,
        ours: (await read(`/agents?tags.name=${tag}&take=${pageSize}`)).ms,
      })
    const ours = quantile(
      times.slice(10).map((time) => time.ours),
      0.95,
    ) // the first ones ran uncompiled code
    const bare = quantile(
      times.slice(10).map((time) => time.bare),
      0.95,
    )
    report({
      name: `api: ${pageSize} of ${bearers} with a tag, of ${fleetSize} agents, p95`,
      measured: formatMs(ours),
      baseline: `without store ${formatMs(bare)}`,
      ratio: ours / bare,
      goal: `<= ${pageMostMs} ms`,
      isMet: ours <= pageMostMs,
    })
  }
  await measureHolding(read, () => server.ask(payloads), report)
}

/** Against the heartbeats alone: each of their commits blocks the event loop until it is on disk. */
async function measureHolding(
  read: (path: string) => Promise<{ readonly ms: number }>,
  askHeld: () => Promise<ServerReady>,
  report: Report,
): Promise<void> {
  const held: { readonly ours: number; readonly bare: number; readonly ms: number }[] = []
  for (let round = 0; round < rounds; round++) {
    await askHeld()
    const { ms } = await read('/agents')
    const ours = (await askHeld()).heldMs
    await new Promise((resume) => setTimeout(resume, ms))
    held.push({ ms, ours, bare: (await askHeld()).heldMs })
  }
  const ours = median(held.map((round) => round.ours))
  const bare = median(held.map((round) => round.bare))
  report({
    name: `api: list of all ${fleetSize} agents holds the event loop`,
    measured: formatMs(ours),
    baseline: `heartbeats alone ${formatMs(bare)}`,
    ratio: ours / bare,
    goal: `<= ${heldMostMs} ms`,
    isMet: ours <= heldMostMs,
  })
  report({
    name: `api: list of all ${fleetSize} agents, whole`,
    measured: formatMs(median(held.map(({ ms }) => ms))),
    baseline: null,
    goal: null,
  })
}

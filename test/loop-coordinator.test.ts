/** Calls with much input or output yield to the event loop (loop.test.ts). */
import assert from 'node:assert'
import { fastify } from 'fastify'
import { pino } from 'pino'
import { indexInSteps } from '../src/coordinator/fleet/agent-index.js'
import { compileNetworks } from '../src/coordinator/http/networks.js'
import { foreseeReturn } from '../src/coordinator/placement/foresee-return.js'
import { placeInSteps } from '../src/coordinator/placement/placement.js'
import type { StateService } from '../src/coordinator/service.js'
import { graphNames } from '../src/coordinator/statistics/archive/graphs.js'
import { openSeries } from '../src/coordinator/statistics/counter-series.js'
import { openStore } from '../src/coordinator/store/open-store.js'
import { runInSteps } from '../src/in-steps.js'
import { agentStates } from '../src/resources/agent-state.js'
import { networkOf } from '../src/source-network.js'
import { fillFleet } from './support/fill-fleet.js'
import { administrator } from './coordinator/gateway/service.js'
import { fill, holdsFor, holdsForLarge } from './support/event-loop.js'

/** Node's limit for all headers of a request together. */
const headerLimitBytes = 16 * 1024

const proxied = fastify({ trustProxy: compileNetworks(['0.0.0.0/0', '::/0']) })
proxied.get('/', ({ ip, ips, protocol }) => ({ ip, protocol, hops: ips?.length }))
for (const unit of ['1.1.1.1,', '1.1.1.1 , ', '::,', ' ', ',', ' ,', 'a'])
  holdsFor(`X-Forwarded-For of ${JSON.stringify(unit)}`, async () => {
    const value = fill(unit, headerLimitBytes)
    networkOf(value)
    const headers = { 'x-forwarded-for': value, 'x-forwarded-proto': value }
    await proxied.inject({ url: '/', headers })
  })

/** The length of a series of an archive. */
const maxRows = 600
const endsAt = Float64Array.from({ length: maxRows }, (_, at) => (1_800_000_000 + at * 10) * 1000)
const values = Float64Array.from({ length: maxRows }, (_, at) => at / 7)
const series = openSeries(
  {
    now: () => 0,
    statistics: {
      readSeries: ({ names }: { readonly names: readonly string[] }) =>
        Promise.resolve({ series: names.map(() => ({ isKnown: true, endsAt, values })) }),
    },
  } as unknown as StateService, // only these members are used
  {
    actor: administrator,
    caches: [],
    consolidation: 'AVERAGE',
    range: { startMs: 0, endMs: 2_000_000_000_000 },
    errorKey: 'agent',
  },
)
holdsFor('the answer with the most statistics', async () => {
  JSON.stringify(await series.readCounters(Array.from({ length: 50 }, (_, at) => `A.b${at}`)))
})
for (const name of graphNames)
  holdsFor(`the longest graph of ${name}`, async () => {
    JSON.stringify(await series.readGraph(name))
  })

holdsForLarge(
  'what an unlock would change, among ten thousand agents',
  async () => {
    const { queries } = await openStore('sqlite::memory:', pino({ level: 'silent' }))
    return { queries, agentId: await fillFleet(queries) }
  },
  async ({ queries, agentId }) => {
    const { load } = await foreseeReturn(queries, agentId, { adopting: false })
    assert.equal(load[0]?.name, 'cf-1-00000000-1')
  },
)

/** More than a fleet has, so that the work in one piece is over the bound. */
const holders = Array.from({ length: 100_000 }, (_, at) => ({
  ...{ id: at + 1, state: agentStates.Running },
  ...{ tagIds: [1], groupIds: [1], rootGroupId: 1 },
}))
const target = { kind: 'tags' as const, tagIds: [1] }
const everywhere = {
  ...{ id: 1, root: true },
  deployments: [{ id: 1, min: 1, max: holders.length, target }],
}
const placed = holders.map(({ id }) => ({ agentId: id, deploymentId: 1, position: id }))
holdsFor('placement of a group that every agent holds', async () => {
  const agents = await runInSteps(indexInSteps(holders))
  const { keep } = await runInSteps(placeInSteps({ group: everywhere, agents, placed }))
  assert.equal(keep.length, holders.length)
})

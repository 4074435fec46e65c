/** Statistics through the console: by hexadecimal id, under the old counter names (docs/behaviour.md, Console and Statistics). */
import t, { type Test } from 'tap'
import { toObjectId } from '../../../src/resources/object-id.js'
import { enrol } from '../controller/client.js'
import { startConsole, type ConsoleClient } from './console-client.js'

const stepSeconds = 10

/** Returns the id of the cache. */
async function sampleCache(
  { controller }: ConsoleClient,
  name: string,
  begin: number,
): Promise<string> {
  const agentId = await enrol(controller, name)
  for (let step = 1; step <= 3; step++)
    controller.service.statistics.record({
      agentId,
      at: (begin + step * stepSeconds) * 1000,
      spanMs: null,
      names: ['MAIN.cache_hit', 'MAIN.cache_hitpass', 'MAIN.cache_miss', 'MAIN.client_req'],
      values: [10 * step, 1, 2, 11 * step],
    })
  return toObjectId('cache', agentId)
}

async function startSampled(t: Test) {
  const client = await startConsole(t)
  /** Seconds since 1970: a multiple of the interval, old enough that all rows are settled. */
  const begin = (Math.floor(Date.now() / 1000 / 60) - 5) * 60
  return { client, begin, id: await sampleCache(client, 'edge', begin) }
}

void t.test('a counter of a cache is a series under the requested name', async (t) => {
  const { client, id, begin } = await startSampled(t)
  const range = `${begin}/${begin + 30}`
  const one = await client.call('GET', `/v1/cache/${id}/stats/cache_hit/AVERAGE/${range}`)
  t.equal(one.status, 200)
  t.same(one.body, {
    counter: 'cache_hit',
    values: [10, 20, 30].map((value, at) => ({ time: begin + (at + 1) * stepSeconds, value })),
  })
  const several = await client.call(
    'GET',
    `/v1/cache/${id}/stats/TOTAL/${range}?counters=cache_miss,MAIN.client_req`,
  )
  t.match(several.body, {
    stats: [
      { counter: 'cache_miss', values: [{ value: 20 }, { value: 20 }, { value: 20 }] },
      { counter: 'MAIN.client_req', values: [{ value: 110 }, { value: 220 }, { value: 330 }] },
    ],
  })
  const usual = await client.call('GET', `/v1/cache/${id}/stats/LAST/${range}`)
  t.equal((usual.body['stats'] as object[]).length, 4)
})

void t.test('a graph of a cache has integers, one object per row', async (t) => {
  const { client, id, begin } = await startSampled(t)
  const answer = await client.call(
    'GET',
    `/v1/cache/${id}/graph/avghitratio/LAST/${begin}/${begin + 10}`,
  )
  t.same(answer.body, {
    avghitratio: [
      { cache_hit: 100, cache_hitpass: 10, cache_miss: 20, client_req: 110, time: begin + 10 },
    ],
  })
})

void t.test(
  'the statistics of a group are the sum of its caches, deployed or not deployed',
  async (t) => {
    const { client, id, begin } = await startSampled(t)
    const other = await sampleCache(client, 'other', begin)
    await sampleCache(client, 'in-no-group', begin)
    const { body: group } = await client.call('POST', '/v1/group', { body: { name: 'site' } })
    const path = `/v1/group/${String(group['id'])}`
    const range = `${begin}/${begin + 20}`
    const read = async (what: string) => (await client.call('GET', `${path}/${what}/${range}`)).body
    t.same((await read('stats/cache_hit/AVERAGE'))['values'], [], 'no caches give no values')

    for (const cache of [id, other])
      t.equal((await client.call('PUT', `${path}/cache/${cache}`)).status, 204)
    const values = [20, 40].map((value, at) => ({ time: begin + (at + 1) * stepSeconds, value }))
    t.same(await read('stats/cache_hit/AVERAGE'), { counter: 'cache_hit', values })
    t.match(await read('graph/avghitratio/TOTAL'), {
      avghitratio: [{ cache_hit: 200 }, { cache_hit: 400 }],
    })
    t.equal(((await read('stats/MAX'))['stats'] as object[]).length, 4)
  },
)

void t.test('invalid functions and times are 400, unknown counters and graphs 404', async (t) => {
  const { client, id, begin } = await startSampled(t)
  const range = `${begin}/${begin + 30}`
  const cases: [number, string, RegExp][] = [
    [400, `stats/cache_hit/MEDIAN/${range}`, /AVERAGE, MIN, MAX, LAST, TOTAL/],
    [400, `stats/cache_hit/AVERAGE/${begin + 1}/${begin}`, /later than end/],
    [400, `stats/AVERAGE/yesterday/${begin}`, /whole seconds/],
    [400, `graph/traffic/AVERAGE/1.5/${begin}`, /whole seconds/],
    [404, `stats/nothing/AVERAGE/${range}`, /counter nothing was not found/],
    [404, `graph/pie/AVERAGE/${range}`, /graph pie was not found/],
  ]
  for (const [status, path, message] of cases) {
    const answer = await client.call('GET', `/v1/cache/${id}/${path}`)
    t.equal(answer.status, status, path)
    t.match(answer.body['message'], message)
  }
  const nowhere = toObjectId('cache', 99)
  const none = await client.call('GET', `/v1/cache/${nowhere}/stats/cache_hit/AVERAGE/${range}`)
  t.equal(none.status, 404)
})

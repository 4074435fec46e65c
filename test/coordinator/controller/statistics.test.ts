/** Statistics over HTTP: shapes, functions, ranges, sums over a group, visibility (docs/behaviour.md, Permissions and Statistics). */
import t, { type Test } from 'tap'
import { defaultCounters } from '../../../src/resources/counters.js'
import { basic } from '../../support/http-call.js'
import { addDeployment, addPlacement } from '../store/rows.js'
import { enrol, startClient, type Client, type Json } from './client.js'

const names = ['MAIN.cache_hit', 'MAIN.cache_hitpass', 'MAIN.cache_miss', 'MAIN.client_req']
const stepSeconds = 10

interface Fleet {
  readonly client: Client
  readonly agents: readonly number[]
  readonly groupId: number
  /** Seconds since 1970: a multiple of the interval, old enough that all rows are settled. */
  readonly begin: number
}

/** A group on two caches with six samples each: 10, 20 … hits per second, the same on both caches. */
async function startFleet(t: Test): Promise<Fleet> {
  const client = await startClient(t)
  const agents = [
    await enrol(client, 'edge-1', { tags: ['web'] }),
    await enrol(client, 'edge-2', { tags: ['web'] }),
  ]
  const groupId = await placeGroup(client, agents)
  const begin = (Math.floor(Date.now() / 1000 / 60) - 5) * 60
  for (const agentId of agents)
    for (let step = 1; step <= 6; step++)
      client.service.statistics.record({
        agentId,
        at: (begin + step * stepSeconds) * 1000,
        spanMs: null,
        names: agentId === agents[0] ? [...names, 'MAIN.threads'] : [...names, 'VBE.secret.conn'],
        values: [10 * step, 0.5, step, 11 * step, 200],
      })
  return { client, agents, groupId, begin }
}

/** Creates placements as after a deploy. */
async function placeGroup(client: Client, agents: readonly number[]): Promise<number> {
  const file = await client.expect(201, 'POST', '/files', {
    name: 'a.vcl',
    source: 'vcl 4.1; backend default none;',
  })
  const group = await client.expect(201, 'POST', '/vclgroups', {
    name: 'site',
    mainVCL: { id: file['id'] },
  })
  const { queries } = client.service.store
  const deploymentId = await addDeployment(queries, 'web')
  for (const agentId of agents)
    await addPlacement(queries, Number(group['id']), agentId, deploymentId)
  return Number(group['id'])
}

/** Creates regular users of one organization, each with read access to one type; returns their tokens and that of its administrator. */
async function makeMembers(client: Client, types: readonly string[]): Promise<string[]> {
  const organization = await client.expect(201, 'POST', '/organizations', { name: 'acme' })
  const password = 'long enough a word'
  const make = (name: string) =>
    client.expect(201, 'POST', '/accounts', { name, password, organization })
  const logIn = async (name: string) => {
    const { body } = await client.call('POST', '/api/v1/auth/login', {
      headers: { authorization: basic(name, password) },
      body: { org: 'acme' },
    })
    return String(body['accessToken'])
  }
  await make('boss') // the first account is the administrator
  const tokens: string[] = []
  for (const type of types) {
    const account = await make(`reader of ${type}`)
    const granted = { account, organization, type, read: true }
    await client.expect(201, 'POST', '/permissions', granted)
    tokens.push(await logIn(`reader of ${type}`))
  }
  return [...tokens, await logIn('boss')]
}

function valuesOf(body: Json): unknown[] {
  return (body['values'] as { time: number; value: number }[]).map(({ value }) => value)
}

void t.test('a counter of a cache can be read by each function under its given name', async (t) => {
  const { client, agents, begin } = await startFleet(t)
  const range = `${begin}/${begin + 60}`
  const read = (path: string) => client.expect(200, 'GET', `/agents/${agents[0]}/stats/${path}`)

  t.same(await read(`cache_hit/average/${begin}/${begin + 20}`), {
    counter: 'cache_hit',
    values: [
      { time: begin + 10, value: 10 },
      { time: begin + 20, value: 20 },
    ],
  })
  for (const name of ['MIN', 'max', 'Last'])
    t.same(valuesOf(await read(`MAIN.cache_hit/${name}/${range}`)), [10, 20, 30, 40, 50, 60])
  t.same(valuesOf(await read(`cache_hit/TOTAL/${range}`)), [100, 200, 300, 400, 500, 600])
  t.same(valuesOf(await read(`threads/AVERAGE/${range}`)), [200, 200, 200, 200, 200, 200])
  t.same(valuesOf(await read(`n_lru_nuked/AVERAGE/${range}`)), [], 'a default one without samples')
  t.same(valuesOf(await read(`cache_hit/AVERAGE/0/60`)), [], 'no values for an old time')

  const several = await read(`AVERAGE/${range}?counters=client_req,MAIN.cache_miss`)
  const stats = several['stats'] as Json[]
  t.same(
    stats.map(({ counter }) => counter),
    ['client_req', 'MAIN.cache_miss'],
  )
  t.same(stats.map(valuesOf), [
    [11, 22, 33, 44, 55, 66],
    [1, 2, 3, 4, 5, 6],
  ])
  const usual = (await read(`AVERAGE/${range}`))['stats'] as Json[]
  t.same(
    new Set(usual.map(({ counter }) => counter)),
    new Set([...names, 'MAIN.threads']),
    'without names, the default counters of the cache',
  )
})

void t.test('counters of file storage are also served by caches that use memory', async (t) => {
  const client = await startClient(t)
  const agents = [await enrol(client, 'memory'), await enrol(client, 'file')]
  const begin = (Math.floor(Date.now() / 1000 / 60) - 5) * 60
  for (const [at, storage] of ['SMA', 'SMF'].entries())
    client.service.statistics.record({
      agentId: agents[at] ?? 0,
      at: (begin + 10) * 1000,
      spanMs: null,
      names: [`${storage}.s0.c_bytes`, `${storage}.s0.g_space`, 'SMA.Transient.g_bytes'],
      values: [5 + at, 100, 7],
    })
  const range = `${begin}/${begin + 10}`
  const asked = 'counters=SMF.s0.c_bytes,SMF.s0.g_space,SMA.s0.c_bytes'
  const read = async (id: number | undefined) => {
    const path = `/agents/${id}/stats/AVERAGE/${range}?${asked}`
    const stats = (await client.expect(200, 'GET', path))['stats'] as Json[]
    return stats.map((one) => [one['counter'], ...valuesOf(one)])
  }

  t.strictSame(await read(agents[0]), [
    ...[
      ['SMF.s0.c_bytes', 5],
      ['SMF.s0.g_space', 100],
      ['SMA.s0.c_bytes', 5],
    ],
  ])
  t.strictSame(await read(agents[1]), [
    ...[['SMF.s0.c_bytes', 6], ['SMF.s0.g_space', 100], ['SMA.s0.c_bytes']],
  ])
  const groupId = await placeGroup(client, agents)
  const sum = await client.expect(
    200,
    'GET',
    `/vclgroups/${groupId}/stats/SMF.s0.c_bytes/AVERAGE/${range}`,
  )
  t.strictSame(valuesOf(sum), [11])
  const all = await client.expect(200, 'GET', `/agents/${agents[0]}/stats/AVERAGE/${range}`)
  t.notMatch(all, { stats: [{ counter: /SMF/ }] }, 'without names, counters have their own names')
  client.advance(-(Date.now() - (begin + 11) * 1000))
  t.match(await client.expect(200, 'GET', '/stats?counters=SMF.s0.g_space'), {
    agents: [{ values: [100] }, { values: [100] }],
  })
})

void t.test('a graph groups counters by row, as integers', async (t) => {
  const { client, agents, groupId, begin } = await startFleet(t)
  const range = `${begin}/${begin + 10}`
  const read = (path: string) => client.expect(200, 'GET', path)

  t.same(await read(`/agents/${agents[0]}/graph/avghitratio/AVERAGE/${range}`), {
    avghitratio: [
      { cache_hit: 10, cache_hitpass: 1, cache_miss: 1, client_req: 11, time: begin + 10 },
    ],
  })
  for (const name of ['LAST', 'total'])
    t.same(await read(`/vclgroups/${groupId}/graph/avghitratio/${name}/${range}`), {
      avghitratio: [
        { cache_hit: 200, cache_hitpass: 10, cache_miss: 20, client_req: 220, time: begin + 10 },
      ],
    })
  t.same(await read(`/agents/${agents[0]}/graph/threads/TOTAL/${range}`), {
    threads: [{ threads: 200, time: begin + 10 }],
  })
  for (const name of ['traffic', 'backend', 'storage'])
    t.ok(Array.isArray((await read(`/agents/${agents[0]}/graph/${name}/MAX/${range}`))[name]))
})

void t.test('the statistics of a group are the sum over its caches', async (t) => {
  const { client, groupId, begin } = await startFleet(t)
  const range = `${begin}/${begin + 60}`
  const read = (path: string) => client.expect(200, 'GET', `/vclgroups/${groupId}/stats${path}`)

  t.same(valuesOf(await read(`/cache_hit/AVERAGE/${range}`)), [20, 40, 60, 80, 100, 120])
  t.same(valuesOf(await read(`/threads/AVERAGE/${range}`)), [200, 200, 200, 200, 200, 200])
  t.same(await read(''), { time: null, agents: 0, stats: [] }, 'the newest samples are too old')
  client.advance(-(Date.now() - (begin + 61) * 1000))
  const newest = await read('')
  t.equal(newest['time'], begin + 60)
  t.equal(newest['agents'], 2)
  t.ok(
    (newest['stats'] as Json[]).some(
      ({ counter, value }) => counter === 'MAIN.client_req' && value === 132,
    ),
  )
})

void t.test('the newest sample of each cache is served, also after it was written', async (t) => {
  const { client, agents, begin } = await startFleet(t)
  const read = (query = '') => client.expect(200, 'GET', `/stats${query}`)

  t.same((await read())['agents'], [], 'the samples are too old')
  client.advance(-(Date.now() - (begin + 61) * 1000))
  const [first, second] = agents
  const newest = { time: begin + 60, values: [66, 60, 6] }
  const whole = {
    counters: ['client_req', 'cache_hit', 'cache_miss'],
    agents: [
      { id: first, ...newest },
      { id: second, ...newest },
    ],
  }
  t.same(await read(), whole)
  await client.service.statistics.commit()
  t.same(await read(), whole)
  for (const agentId of agents) client.service.statistics.release(agentId)
  await client.service.statistics.commit()
  t.same(await read(), whole, 'read from the stored rows')
  t.match(await read('?counters=threads,n_wrk,VBE.secret.conn'), {
    agents: [{ values: [200, 200, null] }, { values: [null, null, 200] }],
  })
  const many = Array.from({ length: 11 }, () => 'cache_hit').join(',')
  for (const [status, query, message] of [
    [400, `?counters=${many}`, /11 are too many.*10 is the most/],
    [400, '?counter=cache_hit', /counters/],
    [404, '?counters=cache_hit,', /counter {2}was not found/],
    [404, '?counters=<b>', /counter <b> was not found/],
  ] as const) {
    const { status: answered, body } = await client.send('GET', `/stats${query}`)
    t.equal(answered, status, query)
    t.match(body, { errorKey: 'agent', errorMsg: message })
  }
})

void t.test('sums cover all caches, the caches with a tag, or selected caches', async (t) => {
  const { client, agents, begin } = await startFleet(t)
  const lone = await enrol(client, 'edge-3', { tags: ['lone'] })
  const [first = 0, second = 0] = agents
  const range = `${begin}/${begin + 60}`
  const read = (query = '') => client.expect(200, 'GET', `/stats/AVERAGE/${range}${query}`)
  const web = (await client.list('/tags')).find(({ name }) => name === 'web')
  const valuesOf = async (query: string) => {
    const { stats, heard } = await read(`?counters=cache_hit&${query}`)
    const [hits] = stats as Json[]
    const last = (points: unknown) => (points as Json[]).at(-1)?.['value']
    return [last(hits?.['values']), last(heard)]
  }

  t.same(await valuesOf(''), [120, 2], 'the third cache has no samples')
  t.same(await valuesOf(`tags=${String(web?.['id'])}`), [120, 2])
  t.same(await valuesOf(`agents=${second},${second}`), [60, 1])
  t.same(await valuesOf(`agents=${first},${lone}`), [60, 1])
  const usual = (await read())['stats'] as Json[]
  t.same(
    usual.map(({ counter }) => counter),
    ['client_req', 'cache_hit', 'cache_miss'],
  )
  const many = Array.from({ length: 101 }, (_, at) => at + 1).join(',')
  for (const [status, query, message] of [
    [400, '?agents=99', /agents: 99 was not found/],
    [400, '?tags=99', /tags: 99 was not found/],
    [400, '?agents=1,', /agents is ids, at most 100, joined by commas/],
    [400, `?agents=${many}`, /at most 100/],
    [400, '?agents=1&tags=1', /give only one of them/],
    [404, '?counters=no_such', /no_such was not found/],
  ] as const) {
    const answer = await client.send('GET', `/stats/AVERAGE/${range}${query}`)
    t.equal(answer.status, status, query)
    t.match(answer.body, { errorKey: 'agent', errorMsg: message })
  }
  t.equal((await client.send('GET', `/stats/MEDIAN/${range}`)).status, 400)
})

void t.test('invalid requests are refused, and unknown counters are not found', async (t) => {
  const { client, agents, groupId, begin } = await startFleet(t)
  const range = `${begin}/${begin + 60}`
  const many = Array.from({ length: 101 }, () => 'cache_hit').join(',')
  const cases: readonly (readonly [number, string, RegExp])[] = [
    [400, `cache_hit/MEDIAN/${range}`, /MEDIAN.*AVERAGE, MIN, MAX, LAST, TOTAL/],
    [400, `cache_hit/AVERAGE/${begin + 1}/${begin}`, /later than end/],
    [400, `cache_hit/AVERAGE/-5/${begin}`, /start is "-5"/],
    [400, `cache_hit/AVERAGE/1e3/${begin}`, /whole seconds/],
    [400, `cache_hit/AVERAGE/${begin}/99999999999999999999`, /end is/],
    [400, `cache_hit/AVERAGE/${begin - 3650 * 86_400}/${begin}`, /two years/],
    [400, `AVERAGE/${range}?counters=${many}`, /101 are too many/],
    [400, `AVERAGE/${range}?counter=cache_hit`, /counters/],
    [404, `no_such_counter/AVERAGE/${range}`, /counter no_such_counter was not found/],
    [404, `%2e%2e%2fetc/AVERAGE/${range}`, /was not found/],
    [404, `AVERAGE/${range}?counters=cache_hit,`, /counter {2}was not found/],
  ]
  for (const base of [`/agents/${agents[0]}`, `/vclgroups/${groupId}`])
    for (const [status, path, message] of cases) {
      const answer = await client.send('GET', `${base}/stats/${path}`)
      t.equal(answer.status, status, path)
      t.match(answer.body['errorMsg'], message)
      t.equal(answer.body['errorKey'], base.startsWith('/agents') ? 'agent' : 'vclgroup')
    }
  const graph = await client.send('GET', `/agents/${agents[0]}/graph/pie/AVERAGE/${range}`)
  t.equal(graph.status, 404)
  t.match(graph.body['errorMsg'], /graph pie was not found; there are avghitratio, /)
  t.equal((await client.send('GET', `/agents/99/stats/cache_hit/AVERAGE/${range}`)).status, 404)
})

void t.test('the default counters are described', async (t) => {
  const client = await startClient(t)
  const listed = await client.list('/counters')
  t.equal(listed.length, defaultCounters.length)
  t.same(Object.keys(listed[0] ?? {}), ['name', 'kind', 'description'])
})

void t.test('an organization sees counters of shared caches, not backends of others', async (t) => {
  const { client, agents, groupId, begin } = await startFleet(t)
  const range = `${begin}/${begin + 60}`
  const [reader = '', stranger = '', boss = ''] = await makeMembers(client, ['stats', 'agent'])
  const get = async (token: string, path: string) =>
    (await client.call('GET', `/api/v1${path}/AVERAGE/${range}`, { token })).status

  t.equal(await get(boss, `/agents/${agents[1]}/stats/cache_hit`), 200)
  t.equal(await get(boss, `/agents/${agents[1]}/stats/VBE.secret.conn`), 404)
  t.equal(await get(boss, `/vclgroups/${groupId}/stats/cache_hit`), 404)
  t.equal(await get(reader, `/agents/${agents[1]}/stats/cache_hit`), 403)
  t.equal(await get(stranger, `/agents/${agents[1]}/stats/cache_hit`), 403)
  t.equal(await get(client.token, `/agents/${agents[1]}/stats/VBE.secret.conn`), 200)
  client.advance(-(Date.now() - (begin + 61) * 1000))
  const newest = (token: string) =>
    client.call('GET', '/api/v1/stats?counters=cache_hit,VBE.secret.conn', { token })
  t.match(await newest(boss), {
    body: { agents: [{ values: [60, null] }, { values: [60, null] }] },
  })
  t.match(await newest(client.token), { body: { agents: [{}, { values: [60, 200] }] } })
  for (const [token, missing] of [
    [reader, 'agent'],
    [stranger, 'stats'],
  ] as const)
    t.match(await newest(token), { status: 403, body: { errorMsg: new RegExp(missing) } })
})

/** A console group in the controller: only the group itself is visible, and it is read-only. */
import t from 'tap'
import type { Route } from '../../../src/coordinator/http/route.js'
import { placeGroup } from '../controller/placed-group.js'
import type { Json } from '../controller/client.js'
import { rows } from '../identity/people.js'
import { addressOf, kindIn, sampleOf } from '../tenancy/samples.js'
import { startFixture, type Fixture } from './group-fixture.js'

const kindsRead = ['tag', 'deployment', 'agent', 'jointoken', 'file', 'domain', 'vclgroup']

void t.test('a console group changes no other answer of the controller', async (t) => {
  const fixture = await startFixture(t)
  const { service, fleet, makeGroup, makeCache, expect } = fixture
  await placeGroup({ service, expect: fleet }, ['edge'])
  const cache = await makeCache('spare', { tags: ['rack'] })
  const before = await readAll(fixture)

  const group = await makeGroup('bb')
  await expect(204, 'PUT', `${group.path}/cache/${cache}`)
  const after = await readAll(fixture)

  const changed = [...after].filter(([path, text]) => text !== before.get(path))
  t.same(
    changed.map(([path]) => path.replace(/[?].*/, '')).filter((path) => path !== '/vclgroups'),
    [],
  )
  t.ok(after.size > 100, `${after.size} answers`)
  const shown = await fleet(200, 'GET', `/vclgroups/${group.number}`)
  t.hasStrict(shown, {
    name: 'bb',
    root: true,
    mainVCL: null,
    includes: [],
    deployments: [],
    domains: [],
    stateName: 'Inactive',
    agentStates: [],
    wish: null,
    deployed: false,
    console: true,
  })
  const placement = rows(await fleet(200, 'GET', `/vclgroups/${group.number}/placement`))
  t.match(placement, [
    { reason: /not in the group/ },
    { deployment: null, reason: /is in the group/ },
  ])
})

/** Reads every list of the controller with every filter, and every first object. */
async function readAll({ controller }: Fixture): Promise<ReadonlyMap<string, string>> {
  const token = await controller.login()
  const answers = new Map<string, string>()
  for (const route of controller.routes.filter(isRead))
    for (const query of queriesOf(route)) {
      const path = `${addressOf(route, 1)}?${query}`
      const { status, headers, text } = await controller.call('GET', `/api/v1${path}`, { token })
      const plain = text.replace(/"traceId":"[^"]*",?/, '')
      answers.set(path, `${status} ${headers.get('x-total-count') ?? ''} ${plain}`)
    }
  return answers
}

/** Excludes routes that need an answer of a cache: the caches have no link here. */
function isRead(route: Route): boolean {
  const kind = kindIn(route) ?? route.path.slice(1).replace(/s$/, '')
  if (route.method !== 'GET' || !kindsRead.includes(kind) || sampleOf(route).params) return false
  return kind !== 'agent' || !/vcls|params|backends|bans|panic/.test(route.path)
}

function queriesOf({ query }: Route): readonly string[] {
  const fields = Object.keys(query?.properties ?? {})
  if (!fields.includes('take')) return ['']
  const filters = fields.filter((field) => field !== 'sort' && field !== 'take')
  return ['', ...filters.flatMap((one) => [`${one}=*`, `${one}=1`, `sort=${one}:desc`])]
}

void t.test('writes and verbs on a console group are conflicts in the controller', async (t) => {
  const { controller, makeGroup } = await startFixture(t)
  const group = await makeGroup('bb')
  const token = await controller.login()
  let tried = 0
  for (const route of controller.routes) {
    if (route.method === 'GET' || kindIn(route) !== 'vclgroup') continue
    const bodies: Readonly<Record<string, Json>> = {
      updateVclGroup: { name: 'x' },
      stageVclGroup: { tags: [{ id: 1 }] },
    }
    const body = bodies[route.operationId]
    const path = `/api/v1${addressOf(route, group.number)}`
    const answer = await controller.call(route.method, path, { token, body })
    t.equal(answer.status, 409, `${route.operationId} ${answer.text}`)
    t.match(answer.body['errorMsg'], /group of the console/)
    tried++
  }
  t.equal(tried, 11)
})

/**
 * A group of the console with one cache Down: the answers to a deploy and a ban, and the state of the cache once it is back
 * (docs/behaviour.md, Console groups).
 */
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { answering, fetchMark } from '../support/observe-cache.js'
import { callsTo } from '../coordinator/console/console-client.js'
import { makeStateDir, startAgent, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { untilEnded } from './invalidation-calls.js'
import { agentName, startHarness, untilAgent, untilServing, type Harness } from './harness.js'

type Json = Record<string, unknown>

interface Member {
  readonly cache: Varnishd
  /** Its id in the console. */
  readonly id: string
}

interface Pair extends Harness {
  readonly first: Member
  readonly second: Member & { agent: Daemon; startAgent(): void }
  readonly group: string
  /** Throws if the answer has another status. */
  readonly expect: (status: number, method: string, path: string, body?: object) => Promise<Json>
  /** Deploys the head of the branch to the group. */
  readonly deploy: (branch: string) => Promise<Json>
  readonly makeBranch: (name: string, content: string) => Promise<string>
}

void t.test('a group of the console with one cache Down', async (t) => {
  const pair = await startPair(t)
  const { first, second, expect, deploy } = pair
  const [one, two] = [
    await pair.makeBranch('one', answering('one')),
    await pair.makeBranch('two', answering('two')),
  ]
  await eventually('both have deployed it', async () => (await deploy(one))['success'] === true)

  await second.agent.kill()
  t.match(
    await deploy(two),
    {
      success: false,
      compilationData: told(pair, 200, 503),
      deployData: told(pair, 200, 503),
      message: '',
    },
    'the running cache deploys it, and the Down one is reported as failed',
  )
  t.equal((await fetchMark(first.cache)).mark, 'two')
  t.equal((await fetchMark(second.cache)).mark, 'one', 'it still serves the old VCL')
  const { id: commit } = await expect(200, 'GET', `/v1/vcl/${two}/head`)
  t.match(await expect(200, 'GET', pair.group), { deployedVclCommitId: commit })
  const consistencyOf = ({ id }: Member) => expect(200, 'GET', `/v1/cache/${id}/consistency`)
  const right = { responseStatus: 200, vcl_consistent: true, param_consistent: true }
  const [there, away, ban] = await Promise.all([
    consistencyOf(first),
    consistencyOf(second),
    expect(200, 'POST', `${pair.group}/ban`, { expression: 'obj.http.x-away == 1' }),
  ])
  t.match(there, right)
  t.match(away, { responseStatus: 503, responseString: /Down/, vcl_consistent: false })
  t.match(ban, {
    state: 5,
    done: 1,
    total: 2,
    results: [
      { cacheId: first.id, status: 200 },
      { cacheId: second.id, status: 202 },
    ],
  })

  second.startAgent()
  await untilServing(second.cache, 'two')
  const back = await eventually('it is consistent', async () => {
    const seen = await consistencyOf(second)
    return seen['vcl_consistent'] === true ? seen : undefined
  })
  t.match(back, { ...right, vcl_name: there['vcl_name'] })
  t.match(await untilEnded(pair.api, { id: Number(ban['id']) }), { done: 2, total: 2 })
  t.match(await second.cache.adm('ban.list'), /x-away/)
  await untilAgent(pair, 'Running', 'other')
  t.match(await deploy(two), { success: true, deployData: told(pair, 200, 200) })
})

async function startPair(t: Test): Promise<Pair> {
  const [harness, cache] = await Promise.all([
    startHarness(t, { heartbeatSeconds: 2 }),
    startVarnishd(t, { vcl: answering('foreign') }),
  ])
  const joinToken = await harness.api.makeJoinToken()
  const setup = { coordinatorUrl: harness.link.url, name: 'other', stateDir: await makeStateDir(t) }
  const launch = (token?: string): Daemon =>
    startAgent(t, cache, { ...setup, ...(token === undefined ? {} : { joinToken: token }) })
  const agent = launch(joinToken)
  const idOf = async (name: string) =>
    toObjectId('cache', (await untilAgent(harness, 'Running', name)).id)
  const first = { cache: harness.cache, id: await idOf(agentName) }
  const second = {
    cache,
    agent,
    id: await idOf('other'),
    startAgent: () => {
      second.agent = launch()
    },
  }
  const call = callsTo(harness.coordinator.base)
  const expect: Pair['expect'] = async (status, method, path, body) => {
    const answer = await call(method, path, { body })
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${answer.text}`)
    return answer.body
  }
  const make = async (path: string, body: object) =>
    String((await expect(201, 'POST', path, body))['id'])
  const group = `/v1/group/${await make('/v1/group', { name: 'pair' })}`
  for (const { id } of [first, second]) await expect(204, 'PUT', `${group}/cache/${id}`)
  return Object.assign(harness, {
    first,
    second,
    group,
    expect,
    makeBranch: (name: string, content: string) => make('/v1/vcl', { name, content }),
    deploy: (branch: string) => expect(200, 'PUT', `${group}/vcl/${branch}/deploy`),
  })
}

/** The expected results of both, in the order of their ids. */
function told({ first, second }: Pair, ofFirst: number, ofSecond: number): object[] {
  return [
    { cacheId: first.id, statusCode: ofFirst },
    { cacheId: second.id, statusCode: ofSecond },
  ]
}

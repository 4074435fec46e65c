/**
 * Two organizations on the same caches, as processes: no answer to one shows what the other deploys, breaks and claims there
 * (docs/behaviour.md, Shared agents). The check of all routes, without caches: coordinator/tenancy.
 */
import t from 'tap'
import { answering } from '../support/observe-cache.js'
import { logIn, type ApiClient } from '../support/api-client.js'
import type { CallAnswer } from '../support/http-call.js'
import { startCoordinator, type CoordinatorProcess } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

const password = 'long enough a word'
const fleetWords = ['--no-agent', '--simulate', '2', '--tags', 'web', '--heartbeat', '20']

interface Tenant {
  readonly api: ApiClient
  readonly group: number
  readonly file: number
  readonly deployment: number
}

void t.test('two organizations on shared caches', async (t) => {
  const coordinator = await startCoordinator(t, { words: fleetWords })
  const { api } = coordinator
  await eventually('both agents are Running', async () => {
    const agents = await api.listAgents()
    return agents.length === 2 && agents.every(({ stateName }) => stateName === 'Running')
  })
  const blue = await settle(coordinator, 'azure')
  expectStatus(await blue.api.act(blue.group, 'deploy'), 200)
  const before = await readAll(blue)
  t.match(before.get('/agents/1/vcls'), new RegExp(`cf-${blue.group}-.*cf-l-${blue.group}"`))
  t.match(before.get(`/vclgroups/${blue.group}/routing`), /azure\.example/)

  const red = await settle(coordinator, 'crimson')
  expectStatus(await red.api.act(red.group, 'deploy'), 200)

  await t.test('deploys of one organization are invisible to the other', async (t) => {
    const answers = await readAll(blue)
    t.same(answers, before)
    t.notMatch([...answers.values()].join('\n'), ofTenant('crimson', red.group))
    const whole = await readAll({ ...blue, api })
    t.match(whole.get('/agents/1/vcls'), new RegExp(`cf-${red.group}-`), 'it is loaded')
    expectStatus(await blue.api.call('PUT', `/vclgroups/${blue.group}/validate`), 200)
    t.same(await readAll(blue), before)
  })

  await t.test('failed deploys are invisible, too', async (t) => {
    await red.api.editFile(red.file, 'vcl 4.1;\nbackend crimson { .host = 1 }\n')
    const refused = await red.api.act(red.group, 'deploy')
    expectStatus(refused, 422)
    t.match(refused.text, /crimson\.vcl line 2/)
    t.same(await readAll(blue), before)
  })

  await t.test('a conflict names nothing of the organization that holds the place', async (t) => {
    const name = await red.api.make('/domains', { fqdn: 'azure.example' })
    const claim = { domains: [{ id: name }], deployments: [{ id: red.deployment }] }
    const main = await red.api.makeFile('claim.vcl', answering('claim'))
    const thief = await red.api.make('/vclgroups', {
      name: 'claim',
      mainVCL: { id: main },
      ...claim,
    })
    const root = await red.api.makeGroup({
      name: 'root',
      mainFile: main,
      deployment: red.deployment,
    })
    for (const id of [thief, root])
      for (const verb of ['deploy', 'validate']) {
        const refused = await red.api.act(id, verb)
        expectStatus(refused, 409)
        t.notMatch(refused.text, ofTenant('azure"|azure[^.]', blue.group))
        const { text } = await red.api.call('GET', `/vclgroups/${id}/placement`)
        t.notMatch(text, ofTenant('azure', blue.group))
      }
    t.same(await readAll(blue), before)
  })

  await t.test('after an undeploy, the other organization can take the place', async (t) => {
    expectStatus(await blue.api.act(blue.group, 'undeploy'), 200)
    const [thief] = (await read(red.api, '/vclgroups?name=claim')) as { id: number }[]
    expectStatus(await red.api.act(thief?.id ?? 0, 'deploy'), 200)
    const vcls = await Promise.all([1, 2].map((id) => read(blue.api, `/agents/${id}/vcls`)))
    const names = vcls.flat().map((row) => (row as { name: string }).name)
    t.same(
      names.filter((name) => name !== 'cf-idle'),
      [],
    )
  })
})

/** An organization with its administrator, and a group with one domain for both caches. */
async function settle({ api, base }: CoordinatorProcess, name: string): Promise<Tenant> {
  const organization = { id: await api.make('/organizations', { name }) }
  await api.make('/accounts', { name, password, organization })
  const own = await logIn(base, { user: name, password, org: name })
  const file = await own.makeFile(`${name}.vcl`, answering(name))
  const deployment = await own.makeDeployment(name, await own.findTag('web'), { min: 1, max: 2 })
  const domain = await own.make('/domains', { fqdn: `${name}.example` })
  const group = await own.make('/vclgroups', {
    name,
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  return { api: own, group, file, deployment }
}

async function read(api: ApiClient, path: string): Promise<unknown[]> {
  const answer = await api.call('GET', path)
  expectStatus(answer, 200)
  return JSON.parse(answer.text) as unknown[] // of a list
}

function expectStatus({ status, text }: CallAnswer, wanted: number): void {
  if (status !== wanted) throw new Error(`${status}, not ${wanted}: ${text}`)
}

/** Matches its mark, or a name on a cache that its group uses. */
function ofTenant(mark: string, group: number): RegExp {
  return new RegExp(`${mark}|cf-(?:[ls]-)?${group}[-."]`)
}

/** Everything that the organization can read of its group and of the caches, except for values that change by themselves. */
async function readAll({ api, group, deployment }: Tenant): Promise<ReadonlyMap<string, string>> {
  const ofAgent = ['', '/vcls', '/params', '/backends', '/bans', '/panic']
  const ofGroup = ['', '/state', '/placement', '/routing', '/history']
  const paths = [
    ...[1, 2].flatMap((id) => ofAgent.map((view) => `/agents/${id}${view}`)),
    ...ofGroup.map((view) => `/vclgroups/${group}${view}`),
    ...['/agents', '/tags', '/files', '/domains', '/vclgroups', '/deployments', '/vcls'],
    ...['/agents?sort=config.lastAttempted.at:desc', '/agents?config.lastAttempted.result=*'],
    ...['/vclgroups?deployed=true', '/deployments?state=1'],
    ...[`/deployments/${deployment}`, '/deployments?agents.id=1', '/tags?name=*'],
  ]
  const answers = new Map<string, string>()
  for (const path of paths) {
    const { status, headers, text } = await api.call('GET', path)
    const total = headers.get('x-total-count') ?? ''
    answers.set(path, `${status} ${total} ${text.replace(ofItself, '')}`)
  }
  return answers
}

/**
 * Times of heartbeats, and the revisions of an agent's desired state, which count the changes of all organizations: every reader of an
 * agent sees its progress.
 */
const ofItself = /"(?:lastHeartbeat|updated)":"[^"]*"|"(?:desired|effective)":\{"revision":\d+\}/g

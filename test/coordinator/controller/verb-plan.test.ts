/** `GET /vclgroups/{id}/plan`: the changes that a verb of a group would make, and the reason why it would be refused now. */
import t from 'tap'
import { enrol, startClient, type Client, type Json } from './client.js'

const verbs = ['deploy', 'rollback', 'promote', 'undeploy'] as const

void t.test('a plan predicts the result of the verb and changes nothing', async (t) => {
  const client = await startClient(t)
  await enrol(client, 'edge', { tags: ['here'] })
  const at = await makeGroup(client)
  const planOf = (verb: string) => client.expect(200, 'GET', `${at}/plan?verb=${verb}`)

  const deploy = await planOf('deploy')
  t.match(deploy, {
    verb: 'deploy',
    revision: null,
    from: null,
    changes: true,
    refusal: null,
    tests: [],
    to: { mainVCL: { name: 'site.vcl', version: 1 }, includes: [] },
    agents: [{ agent: { name: 'edge' }, deployment: 'web', held: false }],
  })
  const [routing] = deploy['routing'] as Json[]
  t.match(routing, { agents: [{ name: 'edge' }], from: null })
  t.match(routing?.['to'], '"shop.example"')
  t.match(await planOf('rollback'), { changes: false, refusal: /no earlier revision/, to: null })
  t.match(await planOf('promote'), { changes: false, refusal: /not staged/, agents: [] })
  t.match(await planOf('undeploy'), { changes: false, refusal: null, agents: [], routing: [] })
  const { deployed } = await client.expect(200, 'GET', at)
  t.equal(deployed, false, 'nothing is deployed')
  t.same(await client.list(`${at}/history`), [])
})

void t.test('a plan includes the reason of a refusal', async (t) => {
  const client = await startClient(t)
  const { id } = await client.expect(201, 'POST', '/organizations', { name: 'red' })
  const organization = { id: Number(id) }
  const at = await makeGroup(client, { organization })
  const planOf = (verb: string, more = '') =>
    client.expect(200, 'GET', `${at}/plan?verb=${verb}${more}`)

  t.match(await planOf('deploy'), { changes: true, refusal: /deployment "web" needs 1 running/ })
  const until = Math.floor(client.service.now() / 1000) + 600
  await client.expect(200, 'PUT', `/organizations/${organization.id}`, {
    frozen: { until, reason: 'sales' },
  })
  for (const verb of verbs)
    t.match(
      await planOf(verb),
      { refusal: verb === 'rollback' ? /no earlier revision/ : /frozen until .*: sales/ },
      verb,
    )
  t.match(await client.expect(400, 'GET', `${at}/plan`), { errorMsg: /verb/ })
  t.match(await client.expect(400, 'GET', `${at}/plan?verb=stage`), { errorMsg: /verb/ })
  t.match(await client.expect(400, 'GET', `${at}/plan?verb=deploy&revision=1`), {
    errorMsg: /only a rollback/,
  })
})

/** Creates a group with a domain; returns its path. */
async function makeGroup(client: Client, owner: Json = {}): Promise<string> {
  const make = async (path: string, body: Json): Promise<Json> => {
    const { id } = await client.expect(201, 'POST', path, { ...body, ...owner })
    return { id }
  }
  const mainVCL = await make('/vcls', { name: 'site.vcl', source: 'vcl 4.1;\n' })
  const domain = await make('/domains', { fqdn: 'shop.example' })
  const [present] = await client.list('/tags?name=here')
  const tag = { id: present?.['id'] ?? (await make('/tags', { name: 'here' }))['id'] }
  const deployment = await make('/deployments', { name: 'web', tags: [tag] })
  const body = { name: 'site', mainVCL, domains: [domain], deployments: [deployment] }
  return `/vclgroups/${String((await make('/vclgroups', body))['id'])}`
}

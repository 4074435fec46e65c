/** Everything in the API is available in the CLI: each documented operation has a command that calls it, or a reason to have none. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { enrol } from '../coordinator/controller/client.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { startController } from '../support/start-controller.js'
import { startFixture, type Fixture } from './fixture.js'

/** Ids of missing objects: the request matters here, not its result. `site` is a group. */
const commands: Readonly<Record<string, string>> = {
  'POST /auth/login': 'login --user root --password-stdin',
  'POST /auth/logout': 'logout',
  'GET /auth/whoami': 'whoami',
  'GET /overview': 'overview',
  'GET /auth/oidc/{organization}': 'login --oidc --org nobody',
  'GET /sessions': 'sessions list',
  'POST /sessions': 'sessions add --label ci --expire 1d --permissions tag:read',
  'DELETE /sessions/{id}': 'sessions delete 99 --yes',
  ...crud('organizations', '--name x'),
  'PUT /organizations/{id}/assign': 'organizations assign 99 --account 99',
  'PUT /organizations/{id}/unassign': 'organizations unassign 99 --account 99 --yes',
  ...crud('accounts', 'x --password-stdin'),
  ...crud('users', '--account 99'),
  ...crud('permissions', '--account 99 --type tag'),
  ...crud('idps', '--base-url https://idp.example --client-id x'),
  'GET /agents': 'agents list',
  'GET /agents/{id}': 'agents get 99',
  'PUT /agents/{id}': 'agents update 99 --no-tags',
  'DELETE /agents/{id}': 'agents delete 99 --yes',
  'GET /agents/{id}/vcls': 'agents vcls 99',
  'GET /agents/{id}/params': 'agents params 99',
  'GET /agents/{id}/backends': 'agents backends 99',
  'GET /agents/{id}/bans': 'agents bans 99',
  'GET /agents/{id}/panic': 'agents panic 99',
  'POST /agents/{id}/command': 'agents command 99 -- ping',
  'PUT /agents/{id}/params/{name}': 'agents set-param 99 default_ttl 1',
  'PUT /agents/{id}/backends/{name}/{health}': 'agents set-backend 99 default sick',
  'PUT /agents/{id}/unlock': 'agents unlock 99',
  'PUT /agents/unlock': 'agents unlock 98 99',
  'PUT /agents/{id}/drain': 'agents drain 99 --reason work --wait 0',
  'PUT /agents/{id}/undrain': 'agents undrain 99',
  'PUT /agents/{id}/replace': 'agents replace 99 --by 98',
  ...crud('tags', '--name x'),
  ...crud('files', '--name x --source x'),
  'POST /files/compile': 'files compile 99',
  'GET /files/{id}/versions': 'files versions 99',
  'GET /files/{id}/versions/{n}': 'files versions 99 1',
  'GET /files/{id}/diff': 'files diff 99 --from 1 --to 2',
  ...crud('deployments', '--name x'),
  ...crud('domains', '--fqdn x.example'),
  ...crud('vclgroups', '--name x --main-vcl 99'),
  'GET /backends': 'backends list',
  'POST /vclgroups/placement': 'apply -f config/example-fleet --plan',
  'PUT /vclgroups/{id}/deploy': 'vclgroups deploy site --detach',
  'PUT /vclgroups/{id}/cancel': 'vclgroups cancel site',
  'PUT /vclgroups/{id}/undeploy': 'vclgroups undeploy site --yes',
  'PUT /vclgroups/{id}/reload': 'vclgroups reload site --detach',
  'PUT /vclgroups/{id}/rollback': 'vclgroups rollback site --detach --yes',
  'PUT /vclgroups/{id}/promote': 'vclgroups promote site --detach --yes',
  'PUT /vclgroups/{id}/stage': 'vclgroups stage site --tags 99',
  'PUT /vclgroups/{id}/delstage': 'vclgroups delstage site --yes',
  'PUT /vclgroups/{id}/validate': 'vclgroups validate site',
  'GET /vclgroups/{id}/state': 'vclgroups state site',
  'GET /vclgroups/{id}/placement': 'vclgroups placement site',
  'GET /vclgroups/{id}/routing': 'vclgroups routing site',
  'GET /vclgroups/{id}/plan': 'vclgroups undeploy site --plan',
  'GET /vclgroups/{id}/history': 'vclgroups history site',
  'GET /agents/{id}/stats/{consolfunc}/{start}/{end}': 'stats agents 99',
  'GET /vclgroups/{id}/stats/{consolfunc}/{start}/{end}': 'stats vclgroups site',
  'GET /domains/{id}/stats/{consolfunc}/{start}/{end}': 'stats domains 99',
  'GET /counters': 'stats counters',
  ...crud(
    'certificates',
    '--name x --chain config/agent.example.yaml --key config/agent.example.yaml',
  ),
  'PUT /certificates/{id}/deploy': 'certificates deploy 99 --detach',
  'PUT /certificates/{id}/rollback': 'certificates rollback 99 --detach --yes',
  'GET /rollouts': 'rollouts list',
  'GET /rollouts/{id}': 'rollouts get 99',
  'PUT /rollouts/{id}/pause': 'rollouts pause 99',
  'PUT /rollouts/{id}/resume': 'rollouts resume 99',
  'PUT /rollouts/{id}/advance': 'rollouts advance 99',
  'PUT /rollouts/{id}/abort': 'rollouts abort 99',
  'GET /invalidations': 'invalidations list',
  'POST /invalidations': 'purge https://x.example/ --all --detach',
  'POST /invalidations/preview': 'purge https://x.example/ --all --plan',
  'GET /invalidations/{id}': 'invalidations get 99',
  'DELETE /invalidations/{id}': 'invalidations delete 99 --yes',
  'PUT /invalidations/{id}/retry': 'invalidations retry 99',
  'PUT /invalidations/{id}/cancel': 'invalidations cancel 99',
  ...crud('webhooks', '--name x --url https://x.example --types problem'),
  'POST /webhooks/{id}/test': 'webhooks test 99',
  'GET /webhooks/{id}/deliveries': 'webhooks deliveries 99',
  'GET /jointokens': 'jointokens list',
  'POST /jointokens': 'jointokens add --label x',
  'DELETE /jointokens/{id}': 'jointokens delete 99 --yes',
  'GET /apilogs': 'apilogs list',
  // Last: it ends the sessions.
  'PUT /auth/password': 'password --password-stdin',
}

const configFolder = join(root, 'config')

const withoutCommand: Readonly<Record<string, string>> = {
  ...ofEach('/stats/{counter}/{consolfunc}/{start}/{end}', 'stats asks for several at once'),
  ...ofEach('/graph/{name}/{consolfunc}/{start}/{end}', 'for what draws; stats has its counters'),
  'GET /vclgroups/{id}/stats': 'for pages; stats has the newest values too',
  'GET /stats/{consolfunc}/{start}/{end}':
    'for pages that draw many caches; stats has one cache, or a group',
  'GET /marks/{start}/{end}': 'for pages that draw; history and invalidations list the same',
  'GET /stats': 'for pages that list caches; stats has the newest values of each one',
  'GET /events': 'events and apilogs tail, which go on until they are ended (events.test.ts)',
  'POST /auth/refresh': 'every command does it when its access token has ended (session.test.ts)',
  'GET /auth/oidc/callback': "the provider sends a person's browser there (session.test.ts)",
  'POST /auth/oidc/token': 'the end of login --oidc (session.test.ts)',
  'GET /vcls': 'a shorthand of GET /files',
  'POST /vcls': 'a shorthand of POST /files',
}

void t.test('every operation of the API has a command, or a reason to have none', async (t) => {
  const fixture = await startFixture(t)
  const { environment, api } = fixture
  await makeGroup(fixture)
  const operations = await readOperations(t)
  const known = [...Object.keys(commands), ...Object.keys(withoutCommand)]
  t.strictSame(operations.toSorted(), known.toSorted())

  const input = 'correct horse battery\nanother horse battery\n'
  // Login and logout need a session; all others use the token.
  const session = { ...environment, CACHEFLEET_TOKEN: '' }
  for (const [operation, text] of Object.entries(commands)) {
    api.lines.length = 0
    const isOfSession = /^(login|logout)/.test(text)
    const words = text.split(' ').map((word) => word.replace(/^config\//, `${configFolder}/`))
    const ran = await fixture.cli(words, {
      input,
      environment: isOfSession ? session : environment,
    })
    // A plan with changes ends with 2 and an empty standard error.
    t.notOk(ran.code === 2 && ran.err !== '', `${text}: ${ran.err}`)
    await eventually(`${operation} by: ${text}`, () => api.lines.some(isCallOf(operation)))
  }
})

function ofEach(path: string, reason: string): Readonly<Record<string, string>> {
  const nouns = ['agents', 'vclgroups', 'domains']
  return Object.fromEntries(nouns.map((noun) => [`GET /${noun}/{id}${path}`, reason]))
}

function crud(noun: string, add: string): Readonly<Record<string, string>> {
  return {
    [`GET /${noun}`]: `${noun} list`,
    [`POST /${noun}`]: `${noun} add ${add}`,
    [`GET /${noun}/{id}`]: `${noun} get 99`,
    [`PUT /${noun}/{id}`]: `${noun} update 99 --data {"x":1}`,
    [`DELETE /${noun}/{id}`]: `${noun} delete 99 --yes`,
  }
}

async function makeGroup(fixture: Fixture): Promise<void> {
  await enrol(fixture.api, 'edge-1')
  const path = join(fixture.folder, 'main.vcl')
  await writeFile(path, 'vcl 4.1;\nbackend default none;\n')
  await fixture.json('files', 'add', path)
  await fixture.json('vclgroups', 'add', '--name', 'site', '--main-vcl', 'main.vcl')
}

/** As in the coordinator's API document. */
async function readOperations(t: Test): Promise<readonly string[]> {
  const whole = await startController(t, { resources: resourceRoutes, withEvents: true })
  const { body } = await whole.call('GET', '/docs/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, unknown>> // by path and method
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['get', 'post', 'put', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '')}`),
  )
}

/** Whether a line of the coordinator's log is about such a call. */
function isCallOf(operation: string): (line: Record<string, unknown>) => boolean {
  const [method = '', path = ''] = operation.split(' ')
  const form = new RegExp(`^/api/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`)
  return (line) => line['method'] === method && form.test(String(line['path']))
}

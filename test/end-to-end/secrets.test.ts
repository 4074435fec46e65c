/**
 * Searches every secret of a whole run in everything that the processes wrote: logs at their most verbose level, standard output,
 * arguments, metrics, answers about other objects, the database, the printed configuration.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, makeHome, sessionFile } from '../cli/run-cli.js'
import {
  administrator,
  makeStateDir,
  runDaemon,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { createBrowser, startIdentityProvider } from '../support/identity-provider.js'
import { startVarnishd } from '../support/varnishd.js'
import { basic, callHttp } from '../support/http-call.js'

type Json = Record<string, unknown>

/** Values that must not be readable anywhere, by name. */
type Secrets = Map<string, string>

const talkative = ['--heartbeat', '1', '--log-level', 'trace']
const passwords = {
  anna: 'anna has this password',
  wrong: 'a word that is wrong',
  next: 'the next of them',
}
const clientSecret = 'the secret of the client'

void t.test('no output contains a secret', async (t) => {
  const coordinator = await startCoordinator(t, { words: ['--no-agent', ...talkative] })
  const secrets: Secrets = new Map([
    ['the first password', administrator.password],
    ['a client secret', clientSecret],
    ...Object.entries(passwords),
  ])
  const client = createClient(t, coordinator)
  const agent = await joinAgent(t, coordinator, secrets)
  await logInEverywhere(t, client, secrets)
  await deploySite(t, client, secrets)
  await talkByCommandLine(t, coordinator, secrets)
  const seen = await lookAround(client, [coordinator.daemon, agent.daemon])
  await coordinator.daemon.stop()
  await agent.daemon.stop()

  t.ok(secrets.size >= 20, [...secrets.keys()].join(', '))
  for (const [name, secret] of secrets) {
    t.ok(secret.length >= 12, `${name} is one`)
    for (const [where, text] of [
      ...seen,
      ['the log of the coordinator', coordinator.daemon.output() + coordinator.daemon.errors()],
      ['the log of the agent', agent.daemon.output() + agent.daemon.errors()],
    ] as const)
      t.notOk(text.includes(secret), `${name} in ${where}`)
  }
  await t.test('the database holds only digests and encrypted values', async (t) => {
    const stored = await readStored(coordinator.stateDir)
    for (const [name, secret] of secrets)
      // The keys that prologues are made of are part of the VCL that caches load.
      if (!name.startsWith('VCL: ')) t.notOk(stored.includes(secret), name)
    t.ok(stored.includes('"x":"'), 'public keys are found')
    t.notOk(stored.includes('"d":"'), 'private keys are encrypted')
  })
})

interface Client {
  readonly base: string
  readonly token: string
  /** Fails the test if the answer has another status. */
  readonly send: (status: number, method: string, path: string, options?: Sending) => Promise<Json>
}

interface Sending {
  readonly body?: unknown
  readonly authorization?: string
}

function createClient(t: Test, { base, api }: CoordinatorProcess): Client {
  return {
    base,
    token: api.token,
    send: async (status, method, path, { body, authorization = `Bearer ${api.token}` } = {}) => {
      const headers = { authorization }
      const answer = await callHttp(method, `${base}/api/v1${path}`, { headers, body })
      const { text } = answer
      if (answer.status !== status) t.fail(`${method} ${path}: ${answer.status} ${text}`)
      return (text === '' ? {} : JSON.parse(text)) as Json // objects and arrays
    },
  }
}

/** A real cache, a join token, and the agent's own key. */
async function joinAgent(
  t: Test,
  { api, port }: CoordinatorProcess,
  secrets: Secrets,
): Promise<{ readonly daemon: Daemon }> {
  const cache = await startVarnishd(t)
  const stateDir = await makeStateDir(t)
  const joinToken = await api.makeJoinToken()
  secrets.set('a join token', joinToken)
  secrets.set(
    'the secret of the management port',
    (await readFile(cache.secretFile, 'utf8')).trim(),
  )
  const daemon = startAgent(t, cache, {
    coordinatorUrl: `ws://127.0.0.1:${port}`,
    name: 'edge',
    stateDir,
    joinToken,
    tags: ['web'],
    words: talkative,
  })
  await eventually(
    'the agent is Running',
    async () => (await api.findAgent('edge'))?.stateName === 'Running',
  )
  const [keyFile] = (await readdir(stateDir)).filter((name) => name.includes('key'))
  secrets.set("the agent's key", (await readFile(join(stateDir, keyFile ?? ''), 'utf8')).trim())
  return { daemon }
}

/** With passwords, refresh tokens, an API token and an identity provider, both successfully and not. */
async function logInEverywhere(t: Test, client: Client, secrets: Secrets): Promise<void> {
  const { base, send, token } = client
  const keep = (name: string, answer: Json): void => {
    for (const [kind, value] of Object.entries(answer))
      if (typeof value === 'string' && kind.endsWith('Token'))
        secrets.set(`${name}: ${kind}`, value)
  }
  secrets.set('the first access token', token)
  const red = await send(201, 'POST', '/organizations', { body: { name: 'red' } })
  const organization = { id: red['id'] }
  await send(201, 'POST', '/accounts', {
    body: { name: 'anna', password: passwords.anna, organization },
  })
  const logIn = (status: number, password: string) =>
    send(status, 'POST', '/auth/login', {
      authorization: basic('anna', password),
      body: { org: 'red' },
    })
  await logIn(401, passwords.wrong)
  const first = await logIn(200, passwords.anna)
  keep('a login', first)
  const authorization = `Bearer ${String(first['accessToken'])}`
  const refresh = `Refresh ${String(first['refreshToken'])}`
  keep('a refresh', await send(200, 'POST', '/auth/refresh', { authorization: refresh }))
  await send(401, 'POST', '/auth/refresh', { authorization: refresh })
  await send(401, 'GET', '/tags', { authorization: `${authorization}x` })
  const second = await logIn(200, passwords.anna)
  keep('a second login', second)
  const mine = `Bearer ${String(second['accessToken'])}`
  const expire = Math.floor(Date.now() / 1000) + 3600
  const permissions = [{ type: 'tag', read: true, write: false }]
  const made = await send(201, 'POST', '/sessions', {
    authorization: mine,
    body: { label: 'script', expire, permissions },
  })
  keep('an API token', made)
  await logInByProvider(t, client, { organization, keep, secrets })
  const change = { old: passwords.anna, new: passwords.next }
  await send(403, 'PUT', '/auth/password', {
    authorization: mine,
    body: { old: passwords.wrong, new: passwords.next },
  })
  await send(204, 'PUT', '/auth/password', { authorization: mine, body: change })
  t.equal(
    (await fetch(`${base}/api/v1/auth/whoami?token=${String(made['accessToken'])}`)).status,
    401,
  )
}

async function logInByProvider(
  t: Test,
  { base, send }: Client,
  about: {
    readonly organization: Json
    readonly keep: (name: string, answer: Json) => void
    readonly secrets: Secrets
  },
): Promise<void> {
  const { organization, keep, secrets } = about
  const oidc = `${base}/api/v1/auth/oidc`
  const clients = [
    { client_id: 'fleet', client_secret: clientSecret, redirect_uris: [`${oidc}/callback`] },
  ]
  const provider = await startIdentityProvider(t, { clients })
  provider.person = 's-1'
  const fields = { baseURL: provider.issuer, clientID: 'fleet', organization }
  const idp = await send(201, 'POST', '/idps', { body: { ...fields, clientSecret } })
  const target = 'http://127.0.0.1:9/'
  const browser = createBrowser()
  const start = `${oidc}/red?return=${encodeURIComponent(target)}`
  const back = await browser.follow(start, `${oidc}/callback`)
  for (const name of ['code', 'state'])
    secrets.set(`the provider's ${name}`, back.url.searchParams.get(name) ?? '')
  const cookies = [...browser.cookies.values()].map((pairs) => pairs.get('cachefleet_oidc'))
  secrets.set('the cookie of a login', cookies.find((cookie) => cookie !== undefined) ?? '')
  const end = await browser.follow(back.url, target)
  const code = end.url.searchParams.get('code') ?? ''
  secrets.set('a one-time code', code)
  keep('a login by a provider', await send(200, 'POST', '/auth/oidc/token', { body: { code } }))
  await send(400, 'POST', '/auth/oidc/token', { body: { code } })
  t.equal((await browser.open(back.url)).status, 400)

  await send(200, 'PUT', `/idps/${String(idp['id'])}`, {
    body: { clientSecret: `${clientSecret}, wrongly` },
  })
  t.equal((await createBrowser().follow(`${oidc}/red`)).status, 400)
}

/** A group with a domain: its prologue holds data that no other group may know. */
async function deploySite(t: Test, { send }: Client, secrets: Secrets): Promise<void> {
  const source = 'vcl 4.1;\nbackend default none;\n'
  const file = await send(201, 'POST', '/files', { body: { name: 'site', source } })
  const tags = await send(200, 'GET', '/tags?name=web')
  const [tag] = tags as unknown as Json[] // a list
  const deployment = await send(201, 'POST', '/deployments', {
    body: { name: 'site', tags: [{ id: tag?.['id'] }] },
  })
  const domain = await send(201, 'POST', '/domains', { body: { fqdn: 'site.example' } })
  const group = await send(201, 'POST', '/vclgroups', {
    body: {
      name: 'site',
      mainVCL: { id: file['id'] },
      domains: [{ id: domain['id'] }],
      deployments: [{ id: deployment['id'] }],
    },
  })
  const at = `/vclgroups/${String(group['id'])}`
  await send(200, 'PUT', `${at}/deploy`)
  const broken = { source: `${source}sub vcl_recv {\n` }
  await send(200, 'PUT', `/files/${String(file['id'])}`, { body: broken })
  await send(422, 'PUT', `${at}/deploy`)
  const agents = (await send(200, 'GET', '/agents')) as unknown as Json[] // a list
  const edge = `/agents/${String(agents[0]?.['id'])}`
  const vcls = (await send(200, 'GET', `${edge}/vcls`)) as unknown as Json[] // a list
  const name = vcls.map((vcl) => String(vcl['name'])).find((text) => /^cf-\d/.test(text)) ?? ''
  const shown = await send(200, 'POST', `${edge}/command`, {
    body: { command: `vcl.show ${name}` },
  })
  t.match(shown, { message: /backend default none/ })
  t.notMatch(shown, { message: /hash_data/ })
  secrets.set('VCL: what was cut from an answer', 'sub vcl_hash { hash_data("')
}

/** The client prints none of the secrets that it stores, not even with --verbose. */
async function talkByCommandLine(
  t: Test,
  { base }: CoordinatorProcess,
  secrets: Secrets,
): Promise<void> {
  const environment = await makeHome(t)
  const words = ['--server', base, '--verbose']
  const login = ['login', ...words, '--user', administrator.user, '--password-stdin']
  const input = `${administrator.password}\n`
  const ran = [
    await call(login, { environment, input }),
    await call(['whoami', ...words, '--json'], { environment }),
    await call(['logout', ...words], { environment }),
    await call(login, { environment, input: `${passwords.wrong}\n` }),
  ]
  t.same(
    ran.map(({ code }) => code),
    [0, 0, 0, 5],
  )
  await call(login, { environment, input })
  const kept = JSON.parse(await readFile(sessionFile(environment), 'utf8')) as { default: Json }
  for (const kind of ['accessToken', 'refreshToken'])
    secrets.set(`of the client: ${kind}`, String(kept.default[kind]))
  const printed = ran.map(({ out, err }) => out + err).join('')
  for (const [name, secret] of secrets) t.notOk(printed.includes(secret), `${name} on a terminal`)
}

/** Everything that any API caller, or any user of the machine, can read. */
async function lookAround(
  { base, send }: Client,
  daemons: readonly Daemon[],
): Promise<readonly (readonly [string, string])[]> {
  const texts: (readonly [string, string])[] = []
  for (const path of ['/metrics', '/healthz', '/readyz', '/docs/openapi.json'])
    texts.push([path, await (await fetch(base + path)).text()])
  for (const path of [
    ...['apilogs', 'sessions', 'accounts', 'users', 'permissions', 'organizations', 'idps'],
    ...['jointokens', 'agents', 'vclgroups', 'domains', 'tags', 'deployments'],
  ])
    texts.push([path, JSON.stringify(await send(200, 'GET', `/${path}`))])
  for (const { pid } of daemons)
    texts.push([`arguments of ${pid}`, await readFile(`/proc/${pid}/cmdline`, 'utf8')])
  return texts
}

/** The bytes of the database and its journal. */
async function readStored(stateDir: string): Promise<string> {
  const names = (await readdir(stateDir)).filter((name) => name.startsWith('coordinator.db'))
  const parts = await Promise.all(names.map((name) => readFile(join(stateDir, name), 'latin1')))
  return parts.join('')
}

void t.test('a printed configuration and an error about it contain no secret', async (t) => {
  const secrets = ['word-of-the-store', 'word-of-the-bus', 'the-join-token', 'the first password']
  const [store = '', bus = '', join_ = '', password = ''] = secrets
  const environment = {
    CACHEFLEET_STORE: `postgres://fleet:${store}@127.0.0.1:9/fleet`,
    CACHEFLEET_BUS: `nats://fleet:${bus}@127.0.0.1:9`,
    CACHEFLEET_JOIN_TOKEN: join_,
    CACHEFLEET_ADMIN_PASSWORD: password,
    CACHEFLEET_STATE_DIR: await makeStateDir(t),
  }
  const coordinator = ['--coordinator', '--no-agent', '--listen', '127.0.0.1:0']
  const printed = await runDaemon([...coordinator, '--print-config'], { environment })
  t.equal(printed.code, 0)
  t.match(printed.output, /"adminPassword": "\[Sensitive\]"/)
  const refused = await runDaemon(coordinator, { environment })
  t.not(refused.code, 0)
  const sqlite = { ...environment, CACHEFLEET_STORE: '' }
  const noBus = await runDaemon(coordinator, { environment: sqlite })
  const wrongForm = await runDaemon(coordinator, {
    environment: {
      ...environment,
      CACHEFLEET_BUS: `http://fleet:${bus}@x`,
      CACHEFLEET_STORE: `${store}://x`,
    },
  })
  t.equal(wrongForm.code, 78)
  for (const { output, errors } of [printed, refused, noBus, wrongForm])
    for (const secret of secrets) t.notOk((output + errors).includes(secret), secret)
})

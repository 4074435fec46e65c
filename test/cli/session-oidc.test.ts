/** Logging in with an identity provider: the browser, refusals, and setting up a provider. */
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { startOidcTenants } from '../coordinator/identity/oidc.contract.js'
import { eventually } from '../support/eventually.js'
import { createBrowser } from '../support/identity-provider.js'
import { administrator } from '../support/start-controller.js'
import { call, endOf, expectOneLine, makeHome, startClient } from './run-cli.js'

const { user, password } = administrator
const input = `${password}\n`

void t.test('a login with an identity provider', async (t) => {
  const tenants = await startOidcTenants(t)
  const { base } = tenants.controller
  const environment = await makeHome(t)
  const words = ['login', '--server', base, '--oidc']

  await t.test('completes in the terminal after the browser', async (t) => {
    tenants.provider.person = 's-1'
    tenants.provider.claims.set('s-1', { preferred_username: 'berta' })
    const child = startClient([...words, '--org', 'red', '--json'], environment)
    const printed = { out: '', err: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
    const ended = endOf(child)
    t.teardown(() => child.kill())
    await eventually('it asks for a browser', () =>
      Promise.resolve(/\n\n {2}http/.test(printed.err)),
    )
    const start = /http\S+/.exec(printed.err)?.[0] ?? ''
    const target = new URL(new URL(start).searchParams.get('return') ?? '')
    t.equal((await fetch(`${target.origin}/?code=made-up`)).status, 404, 'its path is secret')

    const page = await createBrowser().follow(start)

    t.match(page, { status: 200, url: { origin: target.origin } })
    t.equal(await ended, 0)
    t.match(JSON.parse(printed.out), { server: base, account: 'berta', organization: 'red' })
    const { out } = await call(['whoami', '--json'], { environment })
    t.match(JSON.parse(out), { account: { name: 'berta' }, organization: { name: 'red' } })
    t.notMatch(printed.err + printed.out, /eyJ/)
  })

  await t.test('reports mistakes at once', async (t) => {
    const table: [string[], number, RegExp][] = [
      [[], exitCodes.usage, /--oidc needs --org/],
      [['--org', 'red', '--user', 'x'], exitCodes.usage, /exclude each other/],
      [['--org', 'red', '--password-stdin'], exitCodes.usage, /exclude each other/],
      [['--org', 'nobody'], exitCodes.refused, /no organization of this name/],
    ]
    for (const [more, code, message] of table) {
      const ran = await call([...words, ...more], { environment })
      t.equal(ran.code, code, more.join(' '))
      expectOneLine(t, ran, more.join(' '))
      t.match(ran.err, message)
    }
  })

  await t.test('is set up in the CLI, with a secret that is not a flag value', async (t) => {
    await call(['login', '--server', base, '--user', user, '--password-stdin'], {
      environment,
      input,
    })
    await tenants.makeOrganization('blue')
    const provider = ['--base-url', 'https://idp.example', '--client-id', 'fleet']
    const rest = ['--organization', 'blue', '--scopes', 'profile,roles', '--client-secret-stdin']
    const made = await call(['idps', 'add', ...provider, ...rest, '--json'], {
      environment,
      input: 'a secret of the client\n',
    })
    t.match(made, { code: 0, err: '' })
    const idp = JSON.parse(made.out) as { id: number }
    t.match(idp, { organization: { name: 'blue' }, scopes: ['profile', 'roles'] })
    const at = String(idp.id)
    const stored = async (): Promise<string | null> =>
      (
        await tenants.controller.service.store.queries
          .selectFrom('idps')
          .select('sealedClientSecret')
          .where('id', '=', idp.id)
          .executeTakeFirstOrThrow()
      ).sealedClientSecret
    t.match(await stored(), /^v1\./)
    const cleared = ['idps', 'update', at, '--no-client-secret', '--role-claim', 'roles', '--json']
    t.match(JSON.parse((await call(cleared, { environment })).out), { roleClaim: 'roles' })
    t.equal(await stored(), null)
    t.match(await call(['idps', 'list'], { environment }), { out: /idp\.example/ })
    t.match(await call(['idp', 'delete', 'blue', '--yes'], { environment }), { code: 0 })
  })
})

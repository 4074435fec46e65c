/** Logging in to a coordinator with its own CA. */
import { createHash, X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { splitPem } from '../../src/resources/pem.js'
import { startOwnCoordinator } from '../coordinator/tls/running.js'
import { administrator, makeStateDir } from '../support/daemon.js'
import { call, makeHome, sessionFile, type Environment, type Ran } from './run-cli.js'

void t.test('a login to a coordinator with its own CA', async (t) => {
  const folder = await makeStateDir(t)
  const { port, stateDir } = await startOwnCoordinator(t, folder)
  const server = `https://127.0.0.1:${port}`
  const pem = await readFile(join(stateDir, 'ca.pem'), 'utf8')
  const ca = splitPem(pem).find(({ label }) => label === 'CERTIFICATE')?.text ?? ''
  const digest = createHash('sha256').update(new X509Certificate(ca).raw).digest()
  const fingerprint = digest.toString('base64url')
  const passwordFile = join(stateDir, 'password')
  await writeFile(passwordFile, administrator.password, { mode: 0o600 })
  const logIn = (environment: Environment, ...more: readonly string[]): Promise<Ran> =>
    call(
      [
        ...['login', '--server', server, '--user', administrator.user],
        ...['--password-file', passwordFile, ...more],
      ],
      { environment },
    )
  const keptCa = async (environment: Environment): Promise<unknown> => {
    const text = await readFile(sessionFile(environment), 'utf8')
    return (JSON.parse(text) as { default: { ca?: unknown } }).default.ca // as the CLI wrote it
  }

  await t.test('with its fingerprint trusts the CA, and stores it with the login', async (t) => {
    const environment = await makeHome(t)
    t.match(await logIn(environment, '--fingerprint', fingerprint), { code: 0, err: '' })
    t.equal(await keptCa(environment), ca)
    t.match(await call(['whoami'], { environment }), { code: 0 })
    t.match(await logIn(environment), { code: 0 }, 'once')
    const hex = new X509Certificate(ca).fingerprint256
    t.match(await logIn(await makeHome(t), '--fingerprint', hex), { code: 0 }, 'in OpenSSL’s form')
    t.match(await call(['logout'], { environment }), { code: 0, err: '' })
  })

  await t.test('with another fingerprint sends nothing', async (t) => {
    const environment = await makeHome(t)
    const other = createHash('sha256').update('other').digest('base64url')
    t.match(await logIn(environment, '--fingerprint', other), {
      code: exitCodes.refused,
      err: `does not present the certificate ${other}, but ${fingerprint} (cachefleet CA`,
    })
    t.match(await logIn(environment, '--fingerprint', 'short'), {
      code: exitCodes.usage,
      err: /--fingerprint: it must be the SHA-256 of the CA/,
    })
    const plain = ['login', '--server', `http://127.0.0.1:${port}`, '--user', 'x']
    t.match(await call([...plain, '--fingerprint', fingerprint], { environment }), {
      code: exitCodes.usage,
      err: /it needs https:\/\//,
    })
    await t.rejects(readFile(sessionFile(environment)), { code: 'ENOENT' })
  })

  await t.test('without a fingerprint and a terminal prints the remedies', async (t) => {
    t.match(await logIn(await makeHome(t)), {
      code: exitCodes.refused,
      err: /not trusted; set CACHEFLEET_CA to its CA file, or log in with --fingerprint/,
    })
  })

  await t.test('asks once on a terminal', async (t) => {
    const words = ['login', '--server', server, '--user', administrator.user]
    const onTerminal = (environment: Environment, input: string): Promise<Ran> =>
      call([...words, '--password-file', passwordFile], { environment, input, terminal: true })
    const environment = await makeHome(t)
    t.match(await onTerminal(environment, 'n\n'), {
      code: exitCodes.refused,
      err: /by a CA that is not known here:[^]*fingerprint [\w-]{43}[^]*Nothing was done/,
    })
    const asked = await onTerminal(environment, 'y\n')
    t.match(asked, { code: 0, err: new RegExp(`fingerprint ${fingerprint}`) })
    t.equal(await keptCa(environment), ca)
    const again = await onTerminal(environment, '')
    t.equal(again.code, 0)
    t.notMatch(again.err, /not known here/)
  })

  await t.test('does not store a CA given by a variable', async (t) => {
    const file = join(stateDir, 'exported.crt')
    await writeFile(file, ca)
    const environment = { ...(await makeHome(t)), CACHEFLEET_CA: file }
    t.match(await logIn(environment), { code: 0, err: '' })
    t.equal(await keptCa(environment), undefined)
  })
})

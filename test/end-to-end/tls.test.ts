/** A coordinator on the network, its agents and its users, without any certificate provided by an administrator. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findFreePort } from '../support/free-port.js'
import { readPresentedChain } from '../../src/presented-chain.js'
import { makeHome, run, type Environment } from '../cli/run-cli.js'
import {
  administrator,
  makeStateDir,
  runDaemon,
  startDaemon,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startNats } from '../support/nats.js'
import { startPostgres } from '../support/postgres.js'
import { shakeHands } from '../support/tls-client.js'

interface Fleet {
  readonly stateDir: string
  readonly port: number
  daemon: Daemon
  start(): void
}

function startFleet(t: Test, stateDir: string, port: number, words: readonly string[] = []): Fleet {
  const launch = (): Daemon =>
    startDaemon(
      t,
      [
        ...['--coordinator', '--no-agent', '--listen', `0.0.0.0:${port}`],
        ...['--state-dir', stateDir, '--heartbeat', '1', ...words],
      ],
      {
        CACHEFLEET_ADMIN_USER: administrator.user,
        CACHEFLEET_ADMIN_PASSWORD: administrator.password,
      },
    )
  const fleet: Fleet = {
    stateDir,
    port,
    daemon: launch(),
    start: () => {
      fleet.daemon = launch()
    },
  }
  return fleet
}

void t.test('a fleet without a provided certificate', async (t) => {
  const fleet = startFleet(t, await makeStateDir(t), await findFreePort())
  const environment = await makeHome(t)
  const tls = (verb: string) => runDaemon(['tls', verb, '--state-dir', fleet.stateDir])
  const agentDir = await makeStateDir(t)
  await eventually('it listens', async () => (await shakeHands(fleet.port, 'localhost')) !== null)
  t.notMatch(fleet.daemon.output(), 'unencrypted')

  const shown = await tls('show')
  const fingerprint = /^fingerprint {2}([\w-]{43})/m.exec(shown.output)?.[1] ?? ''
  t.match(shown.output, /^CA +cachefleet CA \w{8}, until 20\d\d-\d\d-\d\d$/m)
  t.match(shown.output, /^names .*\blocalhost, 127\.0\.0\.1\b/m)

  const token = await makeToken(fleet.port, fingerprint, environment)
  t.match(token, new RegExp(`^cf1\\.[\\w-]{43}\\.${fingerprint}$`))

  const agent = startDaemon(
    t,
    [
      ...['--coordinator-url', `wss://127.0.0.1:${fleet.port}`, '--name', 'edge'],
      ...['--engine', 'simulate', '--state-dir', agentDir],
    ],
    { CACHEFLEET_JOIN_TOKEN: token },
  )
  await untilRunning(environment)
  t.notMatch(agent.output(), token.split('.')[1] ?? token, 'no token in a log')

  await t.test('export prints the CA that the agent stores', async (t) => {
    const file = join(agentDir, 'coordinator-ca.pem')
    t.equal((await tls('export')).output, await readFile(file, 'utf8'))
    t.equal((await stat(file)).mode & 0o777, 0o600)
  })

  await t.test('a renewed certificate is served, and the link remains', async (t) => {
    const before = await shakeHands(fleet.port, 'localhost')
    t.match(await tls('renew'), { code: 0, output: /serves it within a minute/ })
    await eventually(
      'another certificate is served',
      async () => (await shakeHands(fleet.port, 'localhost')) !== before,
    )
    t.notMatch(agent.output(), 'the link to the coordinator closed')
    t.match(await run(['whoami'], { environment }), { code: 0 })
  })

  await t.test('after a restart, it has the same CA, and its agent reconnects', async (t) => {
    await fleet.daemon.stop()
    fleet.start()
    await eventually(
      'the agent is connected again',
      () => agent.lines().filter(({ msg }) => msg === 'linked to the coordinator').length === 2,
    )
    await untilRunning(environment)
    t.match((await tls('show')).output, fingerprint)
  })
})

/** With a login that trusts the CA's fingerprint, and is kept for later calls. */
async function makeToken(
  port: number,
  fingerprint: string,
  environment: Environment,
): Promise<string> {
  const words = ['--user', administrator.user, '--fingerprint', fingerprint, '--password-stdin']
  const server = `https://127.0.0.1:${port}`
  const input = administrator.password
  const login = await run(['login', '--server', server, ...words], { environment, input })
  if (login.code !== 0) throw new Error(`login: ${login.err}`)
  const made = await run(['jointokens', 'add', '--label', 'edge', '--json'], { environment })
  return (JSON.parse(made.out) as { token: string }).token // as the API answers
}

async function untilRunning(environment: Environment): Promise<void> {
  await eventually('the agent is Running', async () => {
    const { out } = await run(['agents', 'get', 'edge', '--json'], { environment })
    return (JSON.parse(out || '{}') as { stateName?: string }).stateName === 'Running'
  })
}

void t.test('coordinators of one PostgreSQL store share one CA', async (t) => {
  const [postgres, nats] = await Promise.all([startPostgres(t), startNats(t)])
  const secretKeyFile = join(await makeStateDir(t), 'secret.key')
  const words = [
    ...['--store', await postgres.url(), '--bus', nats.url, '--secret-key-file', secretKeyFile],
  ]
  const launch = async (): Promise<Fleet> =>
    startFleet(t, await makeStateDir(t), await findFreePort(), words)
  const [one, two] = await Promise.all([launch(), launch()])
  const fingerprints = await Promise.all(
    [one, two].map(({ port }) =>
      eventually('it presents its CA', async () => {
        const { chain } = await readPresentedChain({ hostname: '127.0.0.1', port: String(port) })
        return chain.at(-1)?.fingerprint
      }),
    ),
  )
  t.equal(fingerprints[0], fingerprints[1])

  const environment = await makeHome(t)
  const token = await makeToken(one.port, fingerprints[0] ?? '', environment)
  startDaemon(
    t,
    [
      ...['--coordinator-url', `wss://127.0.0.1:${two.port}`, '--name', 'edge'],
      ...['--engine', 'simulate', '--state-dir', await makeStateDir(t)],
    ],
    { CACHEFLEET_JOIN_TOKEN: token },
  )
  await untilRunning(environment)
})

void t.test('commands without a CA report the reason', async (t) => {
  const stateDir = await makeStateDir(t)
  const ask = (...words: readonly string[]) => runDaemon(['tls', ...words, '--state-dir', stateDir])
  t.match(await ask('show'), {
    code: 78,
    errors:
      /there is no CA in .*: one is made when a coordinator starts whose listener is not on loopback/,
  })
  t.match(await ask('show', '--tls', 'off'), { code: 78, errors: /with --tls off none is made/ })
  t.match(await ask('turn'), { code: 78, errors: /usage: cachefleetd tls show\|renew\|export/ })
  const given = ['--tls-cert', '/etc/own.crt', '--tls-key', '/etc/own.key']
  t.match(await ask('renew', ...given), {
    code: 78,
    errors: /the listener has the certificate in \/etc\/own\.crt \(--tls-cert\)/,
  })
})

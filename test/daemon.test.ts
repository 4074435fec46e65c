/** The daemon as a service: health, signals, logs, the first password, TLS; and that no secret is shown anywhere. */
import { spawn } from 'node:child_process'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { findFreePort } from './support/free-port.js'
import { logIn } from './support/api-client.js'
import { makeCertificate } from './support/certificate.js'
import {
  makeStateDir,
  program,
  runDaemon,
  startCoordinator,
  startDaemon,
  type Daemon,
} from './support/daemon.js'
import { parallel } from './support/parallel.js'
import { eventually } from './support/eventually.js'

/** In parallel: each test has daemons of its own. */
t.jobs = 4

void t.test('a coordinator without a given password', parallel(), async (t) => {
  const stateDir = await makeStateDir(t)
  const port = await findFreePort()
  const base = `http://127.0.0.1:${port}`
  const words = ['--coordinator', '--no-agent', '--state-dir', stateDir]
  const daemon = startDaemon(t, [...words, '--listen', `127.0.0.1:${port}`])
  await untilReady(daemon, base)

  const passwordFile = join(stateDir, 'admin-password')
  const password = (await readFile(passwordFile, 'utf8')).trim()
  await t.test('generates one and keeps it in a file that only its user can read', async (t) => {
    t.ok(password.length >= 20)
    t.equal((await stat(passwordFile)).mode & 0o777, 0o600)
    t.equal((await stat(stateDir)).mode & 0o777, 0o700)
    t.equal((await stat(join(stateDir, 'secret.key'))).mode & 0o777, 0o600)
  })

  const api = await logIn(base, { user: 'admin', password })
  const token = await api.makeJoinToken()
  await t.test('serves its health and metrics without a login and without names', async (t) => {
    await api.makeTag('a-tag-with-a-name')
    for (const path of ['/healthz', '/readyz', '/metrics'])
      t.equal((await fetch(base + path)).status, 200, path)
    const metrics = await (await fetch(`${base}/metrics`)).text()
    t.match(metrics, /^cachefleet_agents\{state="Running"\} 0$/m)
    t.match(metrics, /^cachefleet_api_request_seconds_count\{.*route="/m)
    t.notMatch(metrics, 'a-tag-with-a-name')
  })

  await t.test('HUP keeps all sessions', async (t) => {
    daemon.signal('SIGHUP')
    await eventually('the log says so', () => daemon.lines().some(({ msg }) => msg === 'reloaded'))
    t.equal((await api.call('GET', '/auth/whoami')).status, 200)
  })

  const newPassword = 'another long password'
  await t.test('admin set-password ends the sessions and removes the file', async (t) => {
    const set = await runDaemon(['admin', 'set-password', 'admin', '--state-dir', stateDir], {
      input: `${newPassword}\n`,
    })
    t.match(set, { code: 0, output: '' })
    await t.rejects(stat(passwordFile), { code: 'ENOENT' })
    const isEnded = async () => (await api.call('GET', '/auth/whoami')).status === 401
    await eventually('the old token is refused', isEnded)
    await t.rejects(logIn(base, { user: 'admin', password }), /401/)
    t.ok(await logIn(base, { user: 'admin', password: newPassword }))
    const admin = (words: string[], input: string) =>
      runDaemon(['admin', ...words, '--state-dir', stateDir], { input })
    t.match(await admin(['set-password', 'nobody'], 'long enough a word\n'), { code: 1 })
    t.match(await admin(['set-password', 'admin'], 'short\n'), { code: 78, errors: /12/ })
    t.match(await admin(['set-password'], ''), { code: 78, errors: /usage/ })
    t.match(await admin(['add', 'second'], 'another long word\n'), { code: 0 })
    t.ok(await logIn(base, { user: 'second', password: 'another long word' }))
    t.match(await admin(['add', 'second'], 'another long word\n'), { code: 1, errors: /taken/ })
    t.match(await admin(['add', 'a:b'], 'another long word\n'), { code: 78, errors: /colon/ })
  })

  const secret = (verb: string) => runDaemon(['secret', verb, '--state-dir', stateDir])
  await t.test('secret rotate changes the key; secret reset requires a stop', async (t) => {
    const key = await readFile(join(stateDir, 'secret.key'), 'utf8')
    t.match(await secret('rotate'), { code: 0, output: /^2 secrets .*secret.key\n/ })
    t.not(await readFile(join(stateDir, 'secret.key'), 'utf8'), key)
    daemon.signal('SIGHUP')
    const reloads = () => daemon.lines().filter(({ msg }) => msg === 'reloaded').length
    await eventually('HUP loads the new key', () => reloads() === 2)
    t.ok(await logIn(base, { user: 'admin', password: newPassword }))
    t.match(await secret('reset'), { code: 1, errors: /stop all coordinators/ })
    t.match(await secret('replace'), { code: 78, errors: /usage/ })
  })

  await t.test('TERM ends it with 0, and a second start keeps its accounts', async (t) => {
    t.equal(await daemon.stop(), 0)
    await rm(join(stateDir, 'secret.key'))
    const refused = await runDaemon([...words, '--listen', `127.0.0.1:${port}`])
    t.match(refused, { code: 78, errors: /there is no secret key in .*cachefleetd secret reset/ })
    t.match(await secret('reset'), { code: 0, output: /sessions have ended/ })
    const again = startDaemon(t, [...words, '--listen', `127.0.0.1:${port}`])
    await untilReady(again, base)
    t.ok(await logIn(base, { user: 'admin', password: newPassword }))
    await t.rejects(stat(passwordFile), { code: 'ENOENT' }, 'no new password is generated')
    again.signal('SIGINT')
    t.equal(await again.ended, 0)
  })

  await t.test('its log consists of lines of JSON without secrets', (t) => {
    const lines = daemon.lines()
    t.not(lines.length, 0)
    for (const line of lines)
      t.ok(line.level && line.msg && !Number.isNaN(Date.parse(line.time)), JSON.stringify(line))
    const all = daemon.output() + daemon.errors()
    for (const secret of [password, newPassword, token, api.token]) t.notMatch(all, secret)
    t.end()
  })
})

void t.test(
  'an agent without coordinator and cache keeps running until it is stopped',
  parallel(),
  async (t) => {
    const stateDir = await makeStateDir(t)
    const nowhere = await findFreePort()
    const agent = startDaemon(
      t,
      [
        ...['--coordinator-url', `ws://127.0.0.1:${nowhere},ws://far.invalid:1`],
        ...['--state-dir', stateDir],
        ...['--engine-address', `127.0.0.1:${nowhere}`, '--name', 'lonely'],
      ],
      { CACHEFLEET_JOIN_TOKEN: 'a-token-nobody-shall-see' },
    )
    await eventually('the agent logs what is missing', () => {
      const logged = agent.lines().map(({ msg }) => msg)
      return logged.some((msg) => /coordinator is not reached/.test(msg)) && logged.length >= 2
    })
    t.ok(agent.lines().some(({ level, msg }) => level === 'warn' && /use wss:/.test(msg)))
    t.notMatch(await readFile(`/proc/${agent.pid}/cmdline`, 'utf8'), 'a-token-nobody-shall-see')
    const key = (await readFile(join(stateDir, 'agent.key'), 'utf8').catch(() => '')).trim()
    t.equal(await agent.stop(), 0)
    for (const secret of ['a-token-nobody-shall-see', ...(key === '' ? [] : [key])])
      t.notMatch(agent.output() + agent.errors(), secret)
  },
)

void t.test('a port in use ends the start with a message that names it', parallel(), async (t) => {
  const taken = createServer()
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => taken.close())
  const address = taken.address()
  const port = typeof address === 'object' && address ? address.port : 0

  const ended = await runDaemon([
    ...['--coordinator', '--no-agent', '--state-dir', await makeStateDir(t)],
    ...['--listen', `127.0.0.1:${port}`],
  ])

  t.match(ended, { code: 1, errors: `127.0.0.1:${port}` })
  t.match(ended.errors, '--listen')
})

void t.test('an unusable state dir or secret key ends the start', parallel(), async (t) => {
  const stateDir = await makeStateDir(t)
  const file = join(stateDir, 'file')
  await writeFile(file, 'no folder')
  // In /proc, the kernel creates no folders and reports that the path does not exist.
  for (const wrong of [file, '/proc/state/dir'])
    t.match(await runDaemon(['--engine', 'simulate', '--state-dir', wrong]), {
      code: 78,
      errors: new RegExp(`stateDir: ${wrong} cannot be used: .*--state-dir`),
    })
  const words = ['--coordinator', '--no-agent', '--state-dir', stateDir]
  t.match(await runDaemon([...words, '--secret-key-file', file]), {
    code: 78,
    errors: `--secret-key-file: ${file}`,
  })
})

void t.test(
  'a public listener warns without TLS, and uses TLS with a certificate',
  parallel(),
  async (t) => {
    const plain = await startCoordinator(t)
    t.notOk(
      plain.daemon.lines().some(({ level }) => level === 'warn'),
      'loopback needs no TLS',
    )

    const stateDir = await makeStateDir(t)
    const port = await findFreePort()
    const words = ['--coordinator', '--state-dir', stateDir, '--listen', `0.0.0.0:${port}`]
    const open = startDaemon(t, [...words, '--no-agent', '--tls', 'off'])
    await eventually('the warning is logged', () =>
      open.lines().some(({ level, msg }) => level === 'warn' && /unencrypted.*--tls off/.test(msg)),
    )
    t.equal(await open.stop(), 0)

    const [cert, key] = [join(stateDir, 'tls.crt'), join(stateDir, 'tls.key')]
    await makeCertificate(cert, key, 'first')
    const secureWords = [...words, '--engine', 'simulate', '--tls-cert', cert, '--tls-key', key]
    const secure = startDaemon(t, secureWords)
    await eventually('the certificate is served', async () => (await readSubject(port)) === 'first')
    await eventually('its own agent connects, although the certificate is for another name', () =>
      secure.lines().some(({ msg }) => msg === 'linked to the coordinator'),
    )
    t.notOk(secure.lines().some(({ level }) => level === 'warn'))

    await makeCertificate(cert, key, 'second')
    secure.signal('SIGHUP')
    await eventually('HUP loads the new one', async () => (await readSubject(port)) === 'second')
    await writeFile(cert, 'no certificate')
    secure.signal('SIGHUP')
    await eventually('the failed reload is logged', () =>
      secure.lines().some(({ level, msg }) => level === 'error' && /reloading failed/.test(msg)),
    )
    t.equal(await readSubject(port), 'second')
    t.equal(await secure.stop(), 0)
    t.match(await runDaemon(secureWords), { code: 78, errors: /--tls-cert/ }, 'invalid certificate')
    await rm(cert)
    t.match(await runDaemon(secureWords), { code: 78, errors: /--tls-cert/ }, 'a missing file')
  },
)

void t.test('an invalid license key ends the start', async (t) => {
  const stateDir = await makeStateDir(t)
  const key = join(stateDir, 'license.pem')
  await writeFile(key, 'no key')
  const words = ['--coordinator', '--no-agent', '--state-dir', stateDir, '--listen', '127.0.0.1:0']
  const daemon = await runDaemon([...words, '--license-key', key])
  t.match(daemon, { code: 78, errors: /--license-key must name a PEM file/ })
})

async function untilReady(daemon: Daemon, base: string): Promise<void> {
  await eventually('the coordinator is ready', async () => {
    if (!daemon.isRunning()) throw new Error(daemon.errors())
    return (await fetch(`${base}/readyz`).catch(() => undefined))?.status === 200
  })
}

/** Undefined if the port does not accept TLS. */
function readSubject(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const { CN } = socket.getPeerCertificate().subject
      socket.destroy()
      resolve(typeof CN === 'string' ? CN : undefined)
    })
    socket.on('error', () => {
      resolve(undefined)
    })
  })
}

void t.test(
  'on a terminal, the log is readable text, and Ctrl-C ends it',
  parallel(),
  async (t) => {
    const stateDir = await makeStateDir(t)
    const words = ['--coordinator', '--no-agent', '--listen', `127.0.0.1:${await findFreePort()}`]
    // exec: a shell in between would handle the SIGINT of the terminal itself.
    const command = ['exec', process.execPath, program, ...words, '--state-dir', stateDir].join(' ')
    const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'pipe' })
    t.teardown(() => child.kill())
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
    await eventually('the hint on what to do next is shown', () =>
      shown.includes('Ctrl-C stops it.'),
    )
    // The log is written by a separate stream.
    await eventually('the log is shown', () => /INFO.*coordinator is ready/.test(shown))
    t.match(shown, /First administrator: admin, password/)
    child.stdin.write('\u0003')
    t.same(await once(child, 'exit'), [0, null])
  },
)

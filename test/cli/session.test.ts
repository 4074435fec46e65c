/** Logging in, staying logged in across processes, and the errors when that fails. */
import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { exitCodes } from '../../src/cli/cli-error.js'
import { withSessionLock } from '../../src/cli/session-lock.js'
import { findFreePort } from '../support/free-port.js'
import { root } from '../support/root.js'
import { administrator, startController, type Controller } from '../support/start-controller.js'
import { call, expectOneLine, makeHome, run, sessionFile, type Environment } from './run-cli.js'

const { user, password } = administrator
const input = `${password}\n`

async function logIn(base: string, environment: Environment, ...more: string[]): Promise<void> {
  const words = ['login', '--server', base, '--user', user, '--password-stdin', ...more]
  const ran = await call(words, { environment, input })
  if (ran.code !== 0) throw new Error(`login: ${ran.err}`)
}

async function readTokens(environment: Environment): Promise<Record<string, string>> {
  const contexts = JSON.parse(await readFile(sessionFile(environment), 'utf8')) as {
    default: Record<string, string>
  } // as the CLI wrote it
  return contexts.default
}

void t.test('a login', async (t) => {
  const controller = await startController(t, { resources: resourceRoutes })
  const environment = await makeHome(t)
  const words = ['login', '--server', `${controller.base}/`, '--user', user]

  await t.test('from standard input stores the tokens for this user only', async (t) => {
    const ran = await run([...words, '--password-stdin'], { environment, input })

    t.match(ran, { code: 0, err: '' })
    t.notMatch(ran.out, /eyJ|horse/, 'nothing secret is printed')
    const file = sessionFile(environment)
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.equal((await stat(dirname(file))).mode & 0o777, 0o700)
    const text = await readFile(file, 'utf8')
    t.notOk(text.includes(password), 'the password is not stored')
    t.match(await call(['whoami'], { environment }), { code: 0, out: new RegExp(user) })
    const { out } = await call(['whoami', '--json'], { environment })
    t.match(JSON.parse(out), { account: { name: user }, organization: null, role: 'system' })
  })

  await t.test('from a file warns when others may read it', async (t) => {
    const file = `${sessionFile(environment)}.password`
    await writeFile(file, input, { mode: 0o600 })
    const closed = await call([...words, '--password-file', file], { environment })
    t.match(closed, { code: 0, err: '' })
    await chmod(file, 0o644)
    const open = await call([...words, '--password-file', file], { environment })
    t.match(open, { code: 0, err: /others may read .* 0600/ })
    const missing = await call([...words, '--password-file', '/no/such/file'], { environment })
    t.match(missing, { code: exitCodes.usage, err: /no such file/ })
  })

  await t.test('asks on a terminal without echoing the input', async (t) => {
    const typed = `${password}x\x7f\r`
    const ran = await call(words, { environment, input: typed, terminal: true })
    t.match(ran, { code: 0, err: /Password of root/ })
    t.notOk(ran.err.includes('horse'))
    const interrupted = await call(words, { environment, input: 'ab\x03', terminal: true })
    t.equal(interrupted.code, exitCodes.interrupted)
  })

  await t.test('with a wrong password ends with 5 and keeps the old session', async (t) => {
    const before = await readFile(sessionFile(environment), 'utf8')
    const wrong = { environment, input: 'wrong wrong wrong\n' }
    const ran = await call([...words, '--password-stdin'], wrong)
    t.equal(ran.code, exitCodes.denied)
    expectOneLine(t, ran, 'a wrong password')
    t.equal(await readFile(sessionFile(environment), 'utf8'), before)
    const json = await call([...words, '--password-stdin', '--json'], wrong)
    t.match(JSON.parse(json.err), { errorKey: 'auth', traceId: /\w{8}/ })
  })

  await t.test('of another context is separate', async (t) => {
    await logIn(controller.base, environment, '--context', 'second')
    await call(['logout', '--context', 'second'], { environment })
    t.match(await call(['whoami', '--context', 'second'], { environment }), { code: 5 })
    t.match(await call(['whoami'], { environment }), { code: 0 })
  })

  await t.test('ends with logout, at the coordinator and locally', async (t) => {
    const { accessToken } = await readTokens(environment)
    t.match(await call(['logout'], { environment }), { code: 0, err: '' })
    await t.rejects(stat(sessionFile(environment)), { code: 'ENOENT' })
    const answer = await controller.call('GET', '/api/v1/tags', { token: accessToken ?? '' })
    t.equal(answer.status, 401)
    const after = await call(['tags', 'list'], { environment })
    t.match(after, { code: exitCodes.denied, err: /cachefleet login/ })
    expectOneLine(t, after, 'without a session')
  })
})

void t.test('the token of a login is sent to its own server only', async (t) => {
  const controller = await startController(t, { resources: resourceRoutes })
  const environment = await makeHome(t)
  await logIn(controller.base, environment)
  const seen: string[] = []
  const other = await startServer(t, (authorization) => seen.push(authorization))

  for (const words of [
    ['--server', other, 'tags', 'list'],
    ['tags', 'list', '--server', other],
  ])
    t.match(await call(words, { environment }), { code: exitCodes.denied, err: /login/ })
  const variable = { ...environment, CACHEFLEET_SERVER: other }
  t.match(await call(['tags', 'list'], { environment: variable }), { code: exitCodes.denied })

  t.strictSame(seen, [])
  const flagWins = ['--server', controller.base, 'tags', 'list']
  t.match(await call(flagWins, { environment: variable }), { code: 0 })
})

void t.test('a token in a variable or its file needs no session', async (t) => {
  const controller = await startController(t, { resources: resourceRoutes })
  const home = await makeHome(t)
  const token = await controller.login()
  const server = { ...home, CACHEFLEET_SERVER: controller.base }
  const file = `${sessionFile(home)}.token`
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${token}\n`, { mode: 0o600 })

  for (const given of [{ CACHEFLEET_TOKEN: token }, { CACHEFLEET_TOKEN_FILE: file }])
    t.match(await call(['tags', 'list'], { environment: { ...server, ...given } }), { code: 0 })
  const bad = { ...server, CACHEFLEET_TOKEN: 'no token' }
  t.match(await call(['tags', 'list'], { environment: bad }), { code: 2, err: /is not a token/ })
  const wrong = { ...server, CACHEFLEET_TOKEN: `${token}x` }
  t.match(await call(['tags', 'list'], { environment: wrong }), { code: exitCodes.denied })
  await t.rejects(stat(sessionFile(home)), { code: 'ENOENT' }, 'no session was created')
})

void t.test('an expired access token is renewed', async (t) => {
  const controller = await startController(t, { resources: resourceRoutes })
  const environment = await makeHome(t)
  await logIn(controller.base, environment)
  let skippedMs = 0
  const now = () => Date.now() + skippedMs
  const skip = (ms: number) => {
    skippedMs += ms
    controller.advance(ms)
  }

  await t.test('when it has expired by the local clock', async (t) => {
    const before = await readTokens(environment)
    skip(601_000)
    t.match(await call(['tags', 'list'], { environment, now }), { code: 0, err: '' })
    const after = await readTokens(environment)
    t.not(after['accessToken'], before['accessToken'])
    t.equal((await stat(sessionFile(environment))).mode & 0o777, 0o600)
  })

  await t.test('when the coordinator refuses it', async (t) => {
    controller.advance(601_000)
    t.match(await call(['tags', 'list'], { environment, now }), { code: 0, err: '' })
  })

  await t.test('once, when many processes need it at the same time', async (t) => {
    controller.advance(601_000)
    const words = ['tags', 'list', '--verbose']
    const ran = await Promise.all([
      ...[1, 2, 3].map(() => run(words, { environment })),
      ...[1, 2, 3].map(() => call(words, { environment, now })),
    ])
    t.strictSame(
      ran.map(({ code }) => code),
      ran.map(() => 0),
      ran.map(({ err }) => err).join(),
    )
    const refreshes = ran.flatMap(({ err }) => err.match(/auth\/refresh 200/g) ?? [])
    t.equal(refreshes.length, 1)
    t.match(await call(['whoami'], { environment, now }), { code: 0 }, 'the session lives')
  })

  await t.test('until the refresh token expires: exit code 5, one line', async (t) => {
    skip(3_601_000)
    const ran = await call(['tags', 'list'], { environment, now })
    t.match(ran, { code: exitCodes.denied, err: /log in again/ })
    expectOneLine(t, ran, 'an ended session')
  })
})

void t.test('a lock is awaited; that of a dead or stuck process is taken over', async (t) => {
  const { XDG_CONFIG_HOME: folder } = await makeHome(t)
  const path = `${folder}/lock`
  await mkdir(folder, { recursive: true })

  let inside = 0
  let most = 0
  const work = async () => {
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resume) => setImmediate(resume))
    inside -= 1
  }
  await writeFile(path, `${await deadProcessId()} left behind\n`)
  await Promise.all(Array.from({ length: 8 }, () => withSessionLock(path, work)))
  t.equal(most, 1, 'one at a time')
  await t.rejects(stat(path), { code: 'ENOENT' }, 'the lock is removed')

  await writeFile(path, `${process.pid} hangs\n`)
  const longAgo = Date.now() / 1000 - 3600
  await utimes(path, longAgo, longAgo)
  t.equal(await withSessionLock(path, () => Promise.resolve('done')), 'done')
  await t.rejects(
    withSessionLock(path, () => Promise.reject(new Error('went wrong'))),
    /went wrong/,
  )
  await t.rejects(stat(path), { code: 'ENOENT' }, 'also after an error')
})

void t.test('an unreachable server is reported in one line, with exit code 1', async (t) => {
  const controller = await startController(t)
  const environment = await makeHome(t)
  const other = await startServer(t, () => undefined)
  const port = await findFreePort()
  const certificate = join(root, 'test/fixtures/tls/one')
  const secure = await startController(t, {
    http: { tls: { certFile: `${certificate}.crt`, keyFile: `${certificate}.key` } },
  })
  const servers = {
    'http://no-such-host.invalid:8002': /no host has that name|cannot be looked up/,
    [`http://127.0.0.1:${port}`]: /nothing listens there/,
    [controller.base.replace('http:', 'https:')]: /does not speak TLS/,
    [secure.base.replace('https:', 'http:')]: /speaks TLS; is it https:\/\/ instead/,
    [other]: /is not a coordinator: it answered 200 text\/html/,
  }
  for (const [server, reason] of Object.entries(servers)) {
    const words = ['login', '--server', server, '--user', 'x', '--password-stdin']
    const ran = await call(words, { environment, input })
    t.equal(ran.code, exitCodes.refused, server)
    expectOneLine(t, ran, server)
    t.match(ran.err, reason)
  }
  const words = ['login', '--server', other, '--user', 'x', '--password-stdin', '--json']
  const { err } = await call(words, { environment, input })
  t.match(JSON.parse(err), { errorKey: 'client', errorMsg: /not a coordinator/ })
  await t.rejects(stat(sessionFile(environment)), { code: 'ENOENT' }, 'no session was created')
})

void t.test('an unreadable session file is reported, and never overwritten', async (t) => {
  const controller: Controller = await startController(t)
  const environment = await makeHome(t)
  const file = sessionFile(environment)
  await mkdir(dirname(file), { recursive: true })
  for (const text of ['{', '[]', `"${createHash('sha256').digest('hex')}"`]) {
    await writeFile(file, text)
    const ran = await call(['whoami'], { environment })
    t.match(ran, { code: exitCodes.refused, err: /cannot be read as sessions; remove it/ })
  }
  await rm(file)
  await logIn(controller.base, environment)
  const { default: session } = JSON.parse(await readFile(file, 'utf8')) as { default: object }
  for (const wrong of [
    { server: 5 },
    { server: 'x' },
    { organization: 1 },
    { accessExpire: '1' },
  ]) {
    const text = JSON.stringify({ default: session, other: { ...session, ...wrong } })
    await writeFile(file, text)
    const ran = await call(['logout'], { environment })
    t.match(ran, { code: exitCodes.refused, err: /cannot be read as sessions \(context "other"\)/ })
    t.equal(await readFile(file, 'utf8'), text)
  }
  await writeFile(file, JSON.stringify({ default: session }))
  t.match(await call(['whoami'], { environment }), { code: 0 })
})

/** Answers every request with a page. */
async function startServer(t: Test, see: (authorization: string) => void): Promise<string> {
  const server: Server = createServer((request, response) => {
    see(request.headers.authorization ?? '')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<p>${randomUUID()}</p>`)
  })
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  t.teardown(() => new Promise((resume) => server.close(resume)))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

async function deadProcessId(): Promise<number> {
  const { spawnSync } = await import('node:child_process')
  return spawnSync(process.execPath, ['--version']).pid
}

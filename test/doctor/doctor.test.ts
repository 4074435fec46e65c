/** The doctor on real processes: it finds problems, names remedies, and changes nothing. */
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { judgeClock } from '../../src/doctor/agent-checks.js'
import { checks, describeProblems } from '../../src/doctor/problems.js'
import { checkUnit } from '../../src/doctor/host-checks.js'
import { openSqlite } from '../../src/coordinator/store/sqlite.js'
import { readServiceUnit } from '../../src/systemd-unit.js'
import { agentName, startHarness, untilAgent } from '../end-to-end/harness.js'
import { parallel } from '../support/parallel.js'
import { makeStateDir, runDaemon, startCoordinator, type Ending } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { findFreePort } from '../support/free-port.js'
import { startManagementProxy } from '../support/management-proxy.js'
import { startPostgres } from '../support/postgres.js'
import { root } from '../support/root.js'

interface Report {
  readonly ok: boolean
  readonly checks: readonly {
    readonly side: string
    readonly check: string
    readonly result: string
    readonly message: string
    readonly remedy: string | null
  }[]
}

t.jobs = 3

async function ask(words: readonly string[]): Promise<Report & { readonly code: Ending }> {
  const { code, output, errors } = await runDaemon(['doctor', '--json', ...words])
  if (errors !== '') throw new Error(errors)
  return { code, ...(JSON.parse(output) as Report) } // printed by the doctor
}

/** Failed checks with their result and message. */
function troubles({ checks: found }: Report): Readonly<Record<string, string>> {
  const wrong = found.filter(({ result }) => result !== 'ok')
  return Object.fromEntries(
    wrong
      // systemd starts none of these, and a small disk is the machine's problem.
      .filter(({ check, message }) => check !== 'unit' && !/MB are left/.test(message))
      .map(({ check, result, message }) => [check, `${result}: ${message}`]),
  )
}

/** Names, modes, sizes and contents. */
async function picture(folder: string): Promise<unknown> {
  const names = (await readdir(folder, { recursive: true })).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const { mode, size } = await stat(path)
      const isText = /\.(key|pem|json|cli)$/.test(name)
      return [name, mode, isText ? await readFile(path, 'utf8') : size]
    }),
  )
}

void t.test('a healthy agent and cache pass', parallel(), async (t) => {
  const health = `127.0.0.1:${await findFreePort()}`
  const harness = await startHarness(t, { agentWords: ['--health-listen', health] })
  const { id } = await untilAgent(harness, 'Running')
  const { api, cache, link, agentStateDir } = harness
  // A separate proxy, so that only the doctor's commands pass it.
  const port = await startManagementProxy(t, cache)
  const wordsWith = (changed: Readonly<Record<string, string>> = {}): readonly string[] =>
    Object.entries({
      '--coordinator-url': link.url,
      '--name': agentName,
      '--state-dir': agentStateDir,
      '--engine-address': `${port.host}:${port.port}`,
      '--engine-secret-file': cache.secretFile,
      '--engine-name': cache.workDir,
      '--engine-http': `${cache.host}:${cache.httpPort}`,
      ...changed,
    }).flat()
  const text = await runDaemon(['doctor', ...wordsWith()])
  t.equal(text.code, 0, text.output)
  t.equal(text.errors, '')
  for (const line of text.output.trimEnd().split('\n'))
    t.match(line, /^(ok {4}|warn {2}|fail {2})[a-z]+ {2,}\S/, line)
  t.same(
    port.commands.map((line) => line.replace(/^auth .*/, 'auth')),
    ['auth', 'status -j', 'param.show cc_command'],
    'the doctor sends no changing command',
  )

  const report = await ask(wordsWith())
  t.match(report, { ok: true, code: 0 })
  t.same(troubles(report), {})
  t.same(
    ['cache', 'clock', 'compiler', 'coordinator', 'counters', 'keys', 'log', 'ports', 'state'],
    [...new Set(report.checks.filter(({ result }) => result === 'ok').map(({ check }) => check))]
      .filter((check) => !['settings', 'unit', 'program', 'versions'].includes(check))
      .toSorted(),
  )

  await t.test('the doctor checks the health endpoint', async (t) => {
    const withHealth = wordsWith({ '--health-listen': health })
    const untilReported = (what: RegExp | undefined): Promise<unknown> =>
      eventually(String(what), async () => {
        const { ports } = troubles(await ask(withHealth))
        return what ? what.test(ports ?? '') : ports === undefined
      })
    await untilReported(undefined)
    await api.call('PUT', `/agents/${id}/drain`, { reason: 'kernel update' })
    await untilReported(/^warn: load balancers are told to leave this cache alone: draining$/)
    await api.call('PUT', `/agents/${id}/undrain`)
    await untilReported(undefined)
    const other = wordsWith({ '--health-listen': `${cache.host}:${cache.httpPort}` })
    t.match(troubles(await ask(other))['ports'], /^warn: the agent does not answer .* no health$/)
  })

  await t.test('the doctor finds each problem of an agent', async (t) => {
    await harness.agent.stop()
    const before = await picture(agentStateDir)
    const secret = join(agentStateDir, '..', `${agentName}-${process.pid}.secret`)
    await writeFile(secret, 'another\n')
    t.teardown(() => rm(secret, { force: true }))
    const closed = `127.0.0.1:${await findFreePort()}`
    const rows: readonly (readonly [Readonly<Record<string, string>>, string, RegExp])[] = [
      [{ '--engine-secret-file': secret }, 'cache', /^fail: the cache at .* does not take the se/],
      [
        { '--engine-secret-file': '/no/file' },
        'cache',
        /^fail: the secret \/no\/file cannot be re/,
      ],
      [{ '--engine-address': closed }, 'cache', /^fail: the management port .* does not answer/],
      [{ '--health-listen': closed }, 'ports', /^warn: the agent does not answer load balancers/],
      [{ '--engine-http': closed }, 'ports', /^fail: the cache is to serve clients at/],
      [
        { '--engine-name': '/no/folder' },
        'counters',
        /^fail: the (counters in|cache in) \/no\/fold/,
      ],
      [{ '--engine-program': '/bin/true' }, 'program', /^warn: .*true is not of release varnish/],
      [
        { '--coordinator-url': `ws://${closed}` },
        'coordinator',
        /^fail: .* is not reached: nothin/,
      ],
      [{ '--state-dir': '/no/folder' }, 'state', /^fail: there is no state directory/],
    ]
    for (const [changed, check, message] of rows) {
      const found = await ask(wordsWith(changed))
      t.match(troubles(found)[check], message, JSON.stringify(changed))
      t.equal(found.code, found.ok ? 0 : 1)
    }
    t.same(await picture(agentStateDir), before, 'nothing was changed')
    await checkAgentFiles(t, agentStateDir, () => ask(wordsWith()))
  })
})

async function checkAgentFiles(
  t: Test,
  stateDir: string,
  look: () => Promise<Report>,
): Promise<void> {
  const key = join(stateDir, 'agent.key')
  await chmod(key, 0o644)
  await chmod(stateDir, 0o755)
  t.match(troubles(await look()), {
    keys: /^fail: .*agent\.key has mode 644/,
    state: /^fail: .* has mode 755: others can enter it/,
  })
  const kept = await readFile(key, 'utf8')
  await writeFile(key, `${'0'.repeat(64)}\n`)
  t.match(troubles(await look()), { coordinator: /^fail: the coordinator does not take the key/ })
  await writeFile(key, kept)
  await rename(key, `${key}.away`)
  t.match(troubles(await look()), { coordinator: /^fail: this host is not enrolled/ })
}

void t.test('the doctor finds the problems of a coordinator', parallel(), async (t) => {
  const coordinator = await startCoordinator(t)
  const { stateDir, port } = coordinator
  const words = ['--coordinator', '--state-dir', stateDir, '--listen', `127.0.0.1:${port}`]
  const report = await ask(words)
  t.match(report, { ok: true, code: 0 })
  t.same(troubles(report), {})
  t.same(
    report.checks.filter(({ result }) => result === 'ok').map(({ check }) => check),
    ['settings', 'state', 'keys', 'store', 'versions', 'ports'],
  )
  await coordinator.daemon.stop()
  const before = await picture(stateDir)
  t.match(troubles(await ask(words)), { ports: /^warn: no coordinator listens/ })
  t.same(await picture(stateDir), before, 'nothing was changed')

  const key = join(stateDir, 'secret.key')
  await chmod(key, 0o644)
  t.match(troubles(await ask(words)), { keys: /^fail: .*secret\.key has mode 644/ })
  await chmod(key, 0o600)
  await rename(key, `${key}.away`)
  t.match(troubles(await ask(words)), { store: /^fail: .*secret\.key is not the key that seals/ })
  await rename(`${key}.away`, key)
  await writeFile(join(stateDir, 'admin-password'), 'x', { mode: 0o600 })
  t.match(troubles(await ask(words)), { keys: /^warn: the first password still lies/ })
  const { queries, close } = openSqlite(join(stateDir, 'coordinator.db'))
  await queries
    .insertInto('agents')
    .values({
      name: 'old',
      keyDigest: 'x',
      state: 3,
      engineState: 'unknown',
      engineHost: 'x',
      enginePort: 1,
      engineVersion: '',
      agentVersion: '9.9.9',
      capabilities: '[]',
      createdAt: 1,
      updatedAt: 1,
      lastHeartbeatAt: 1,
      lastStateChangeAt: 1,
      desiredRevision: 1,
      desired: '{}',
    })
    .execute()
  t.match(troubles(await ask(words)), { versions: /^warn: 1 agents are of a version.*: 9\.9\.9/ })
  await sql`insert into migrations values ('9999-later', 1)`.execute(queries)
  await close()
  t.match(troubles(await ask(words)), { store: /^fail: a newer version has written the store/ })
  const other = [...words, '--store', `sqlite:${stateDir}/none.db`]
  t.match(troubles(await ask(other)), { store: /^fail: there is no store/ })
  t.notOk((await readdir(stateDir)).includes('none.db'), 'no store was created')
})

void t.test('the doctor checks a coordinator on PostgreSQL', parallel(), async (t) => {
  const postgres = await startPostgres(t)
  const store = ['--store', await postgres.url()]
  const { stateDir, port } = await startCoordinator(t, { words: ['--no-agent', ...store] })
  const listen = ['--listen', `127.0.0.1:${port}`]
  const words = ['--coordinator', '--state-dir', stateDir, ...listen, ...store]
  const report = await ask(words)
  t.same(troubles(report), {})
  t.match(
    report.checks.map(({ check, result }) => `${check} ${result}`).join(),
    /store ok,clock ok,versions ok/,
  )
  await postgres.stop()
  t.match(troubles(await ask(words)), {
    store: /^fail: the store does not answer/,
    ports: /^fail: the coordinator at .* is not ready/,
  })
  const bus = await ask([...words, '--bus', `nats://127.0.0.1:${await findFreePort()}`])
  t.match(troubles(bus), { bus: /^fail: the bus is not reached/ })
})

void t.test('our units are hardened, until a drop-in removes that', async (t) => {
  const host = await makeStateDir(t)
  const units = join(host, 'usr/lib/systemd/system')
  await mkdir(units, { recursive: true })
  const look = (name: string) =>
    checkUnit({ unit: readServiceUnit(name, host) ?? null, user: null })[0]
  for (const name of ['cachefleet-agent', 'cachefleet-agent@', 'cachefleet-coordinator']) {
    await copyFile(join(root, `systemd/${name}.service`), join(units, `${name}.service`))
    const unit = `${name.replace(/@$/, '@edge')}.service`
    t.match(look(unit), { result: 'ok', message: / runs as cachefleet.*, protected as packaged$/ })
    const dropIns = join(host, `etc/systemd/system/${name}.service.d`)
    await mkdir(dropIns, { recursive: true })
    await writeFile(join(dropIns, 'own.conf'), '[Service]\nProtectSystem=no\nPrivateTmp=\n')
    t.match(look(unit), { result: 'warn', message: /ProtectSystem=strict, PrivateTmp=yes$/ })
  }
  t.match(look('none.service'), { result: 'warn', message: /no unit of cachefleet/ })
})

void t.test('a clock is right, off, or far off', (t) => {
  const results = [0, 5_000, -5_001, 60_000, 60_001, -3_600_000].map(
    (skewMs) => judgeClock(1_000_000_000_000, 1_000_000_000_000 + skewMs)[0]?.result,
  )
  t.same(results, ['ok', 'ok', 'warn', 'warn', 'fail', 'fail'])
  t.same(judgeClock(null, 0), [])
  t.end()
})

void t.test('its texts match the chapter of the guide', async (t) => {
  const guide = await readFile(join(root, 'docs/operating.md'), 'utf8')
  const squeeze = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')
  t.ok(squeeze(guide).includes(squeeze(describeProblems())), describeProblems())
  for (const [name, { problems }] of Object.entries(checks))
    for (const { what, remedy } of Object.values(
      problems as Record<string, { what: string; remedy: string }>,
    ))
      t.notMatch(`${what}${remedy}`, /\||\n/, name)
})

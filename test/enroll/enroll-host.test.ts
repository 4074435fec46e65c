/** Enrolling a host beside a real cache succeeds, or leaves the host unchanged with a one-line reason. */
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import t, { type Test } from 'tap'
import { findFreePort } from '../support/free-port.js'
import { listRunningCaches, type RunningCache } from '../../src/agent/host/running-caches.js'
import { EnrollError } from '../../src/enroll/enroll-error.js'
import { enrollHost, type Enrolled, type EnrollOptions } from '../../src/enroll/enroll-host.js'
import { parseJoinToken, printJoinToken } from '../../src/resources/join-token-text.js'
import { startOwnCoordinator, type OwnCoordinator } from '../coordinator/tls/running.js'
import { call, makeHome } from '../cli/run-cli.js'
import { administrator, makeStateDir, program } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { root as checkout } from '../support/root.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

const onlyRoot = { skip: geteuid?.() === 0 ? false : 'only root enrols a host' }
const unitName = 'cachefleet-agent.service'

interface Host {
  readonly root: string
  readonly cache: Varnishd
  readonly coordinator: OwnCoordinator
  /** Below the root. */
  readonly read: (path: string) => Promise<string>
  enroll(more?: Partial<EnrollOptions>): Promise<Enrolled>
  /** All paths that enrolling may leave. */
  list(): Promise<readonly string[]>
}

/** With the unit of our packages, run by an unprivileged user. */
async function makeHost(t: Test): Promise<Host> {
  const root = await makeStateDir(t)
  const [cache, coordinator] = await Promise.all([
    startVarnishd(t),
    startOwnCoordinator(t, await makeStateDir(t)),
  ])
  await chmod(cache.secretFile, 0o644)
  for (const folder of ['etc/systemd/system', 'etc/cachefleet', 'var/lib'])
    await mkdir(join(root, folder), { recursive: true })
  await writeUnit(root, `SupplementaryGroups=${await findGroup(cache)}`)
  const systemctl = [
    process.execPath,
    ...[join(checkout, 'test/enroll/systemctl.mjs'), program, root],
  ] as const
  t.teardown(async () => {
    const { stopUnit } = await import('../../src/enroll/host-unit.js')
    await stopUnit([...systemctl], unitName)
  })
  const find = async (): Promise<readonly RunningCache[]> =>
    (await listRunningCaches()).filter(({ pid }) => pid === cache.pid())
  return {
    root,
    cache,
    coordinator,
    read: (path) => readFile(join(root, path), 'utf8'),
    enroll: async (more) =>
      enrollHost({
        coordinatorUrl: `wss://127.0.0.1:${coordinator.port}`,
        instance: null,
        tokenFile: null,
        root,
        systemctl: [...systemctl],
        now: Date.now,
        waitMs: 60_000,
        token: more?.token ?? (await coordinator.makeToken()),
        signal: new AbortController().signal,
        listCaches: find,
        ...more,
      }),
    list: async () => {
      const names = await readdir(root, { recursive: true })
      return names.filter((name) => !name.endsWith('.log')).toSorted()
    },
  }
}

async function writeUnit(root: string, groups: string): Promise<void> {
  await writeFile(
    join(root, 'etc/systemd/system', unitName),
    `[Service]
User=nobody
${groups}
StateDirectory=cachefleet
ExecStart=/usr/bin/cachefleetd --config /etc/cachefleet/agent.yaml
`,
  )
}

/** The group that may read the cache's counters. */
async function findGroup(cache: Varnishd): Promise<string> {
  const { gid } = await stat(join(cache.workDir, '_.vsm_mgt/_.index'))
  const groups = (await readFile('/etc/group', 'utf8')).split('\n').map((line) => line.split(':'))
  return groups.find(([, , id]) => Number(id) === gid)?.[0] ?? 'nogroup'
}

void t.test('a host is enrolled in one step', onlyRoot, async (t) => {
  const host = await makeHost(t)
  const mine = '# What I wrote.\ntags: [web, eu] # by hand\n'
  await writeFile(join(host.root, 'etc/cachefleet/agent.yaml'), mine)

  const enrolled = await host.enroll()

  t.match(enrolled, { unit: unitName, lockedBecause: null, release: /^(varnish|vinyl) \d/ })
  const settings = await host.read('etc/cachefleet/agent.yaml')
  t.ok(settings.startsWith(mine), 'existing settings stay')
  t.match(settings, `coordinatorUrl: wss://127.0.0.1:${host.coordinator.port}`)
  t.match(settings, `engineAddress: 127.0.0.1:${host.cache.port}`)
  t.match(settings, `engineSecretFile: ${host.cache.secretFile}`)
  t.match(settings, `engineName: ${host.cache.workDir}`)
  t.match(settings, /engineProgram: \/\S+(varnishd|vinyld)$/m)
  t.match(settings, `engineHttp: 127.0.0.1:${host.cache.httpPort}`)
  const names = await host.list()
  t.ok(names.includes(`enabled-${unitName}`), 'the unit is enabled')
  t.notMatch(settings + names.join(), /token/i, 'no used token is left behind')
  await t.rejects(host.enroll(), {
    message: /agent\.yaml enrols at wss:\/\/\S+ already: .*--instance NAME/,
  })
  t.equal(await host.read('etc/cachefleet/agent.yaml'), settings)
  t.ok((await host.list()).includes(`enabled-${unitName}`), 'the unit stays enabled')
})

void t.test('a host that cannot be enrolled is left unchanged', onlyRoot, async (t) => {
  const host = await makeHost(t)
  const mine = '# mine\ntags: [web]\n'
  await writeFile(join(host.root, 'etc/cachefleet/agent.yaml'), mine)
  const before = await host.list()
  const { coordinator, cache } = host
  const good = await coordinator.makeToken()
  const { token = '', fingerprint } = parseJoinToken(good) ?? {}
  const closed = await findFreePort()
  const newer = await createSimulatedEngine({
    version: '10.0.0',
    secret: await readFile(cache.secretFile),
  }).listen()
  t.teardown(() => newer.close())
  const plain = await startOwnCoordinator(t, await makeStateDir(t), null)
  const changed = (change: Partial<RunningCache>) => async (): Promise<readonly RunningCache[]> =>
    (await listRunningCaches())
      .filter(({ pid }) => pid === cache.pid())
      .map((one) => ({ ...one, ...change }))

  const faults: Readonly<Record<string, readonly [Partial<EnrollOptions>, RegExp]>> = {
    'a wrong token': [
      { token: printJoinToken({ token: 'x'.repeat(43), fingerprint: fingerprint ?? null }) },
      /refuses the join token: this join token is unknown, used up, expired or revoked; make another: cachefleet jointokens add/,
    ],
    'a token that was cut off': [
      { token: good.slice(0, -1) },
      /the join token is not whole: right is all of what was shown/,
    ],
    'a wrong fingerprint': [
      { token: printJoinToken({ token, fingerprint: 'x'.repeat(43) }) },
      /not by the CA that the join token names \(x{43}\): nothing was sent.*--tls off/,
    ],
    'a coordinator without TLS': [
      { token: good, coordinatorUrl: `ws://127.0.0.1:${plain.port}` },
      /use wss:\/\/127\.0\.0\.1:\d+/,
    ],
    'a TLS address of a coordinator without TLS': [
      { token, coordinatorUrl: `wss://127.0.0.1:${plain.port}` },
      /does not speak TLS; use ws:\/\//,
    ],
    'another name than the certificate has': [
      { token: good, coordinatorUrl: `wss://127.0.0.9:${coordinator.port}` },
      /not for 127\.0\.0\.9: .*--tls-names 127\.0\.0\.9/,
    ],
    'a clock that is behind': [
      { token: good, now: () => Date.now() - 600_000 },
      /the clock of this host is (599|60[01]) s behind the coordinator's: set it \(timedatectl/,
    ],
    'a clock that is ahead': [
      { token: good, now: () => Date.now() + 600_000 },
      /is (599|60[01]) s ahead of the coordinator's/,
    ],
    'a closed port of the coordinator': [
      { token: good, coordinatorUrl: `wss://127.0.0.1:${closed}` },
      /the coordinator at 127\.0\.0\.1:\d+ is not reached: nothing listens there/,
    ],
    'a closed management port': [
      { token: good, listCaches: changed({ managementPorts: [`127.0.0.1:${closed}`] }) },
      /the management port 127\.0\.0\.1:\d+ of the cache cannot be used: .*ECONNREFUSED/,
    ],
    "another cache's secret": [
      { token: good, listCaches: changed({ secretFile: '/proc/version' }) },
      /cannot be used: .*the file \/proc\/version, must be those of the cache that runs/,
    ],
    'a cache of an unknown release': [
      { token: good, listCaches: changed({ managementPorts: [`127.0.0.1:${newer.port}`] }) },
      /the cache is varnish 10\.0\.0; cachefleet knows Varnish 6\.0 to 9\.x and Vinyl Cache 9\.x/,
    ],
    'no cache': [
      { token: good, listCaches: () => Promise.resolve([]) },
      /no cache runs on this host: start varnishd or vinyld/,
    ],
    'no unit of that name': [
      { token: good, instance: 'edge' },
      /there is no unit cachefleet-agent@edge\.service: install the package/,
    ],
    'no systemctl': [
      { token: good, systemctl: ['/no/such/systemctl'] },
      /cannot be started: this host has no systemctl/,
    ],
    'a person who changes their mind': [
      { token: good, signal: AbortSignal.abort(new EnrollError('interrupted')) },
      /interrupted/,
    ],
  }
  for (const [name, [options, message]] of Object.entries(faults)) {
    const failed = await host.enroll(options).catch((error: unknown) => error)
    t.match(failed, { name: 'EnrollError', message }, name)
    t.notMatch(String(failed), /\n/, 'one line')
    t.notOk(String(failed).includes(token), 'no secret in it')
    t.same(await host.list(), before, `${name}: nothing is left behind`)
    t.equal(await host.read('etc/cachefleet/agent.yaml'), mine)
  }

  await chmod(cache.secretFile, 0o600)
  await t.rejects(host.enroll({ token: good }), {
    name: 'EnrollError',
    message:
      /user nobody may not read the cache's secret \S+ \(EACCES\): chgrp nobody \S+ && chmod 640/,
  })
  await chmod(cache.secretFile, 0o644)
  const expired = await makeExpiredToken(t, coordinator, fingerprint ?? '')
  await t.rejects(host.enroll({ token: expired }), {
    name: 'EnrollError',
    message: /unknown, used up, expired or revoked/,
  })
  await writeUnit(host.root, '')
  await t.rejects(host.enroll({ token: good }), {
    name: 'EnrollError',
    message:
      /user nobody may not read the cache's counters in \S+ \(EACCES\): usermod -aG \w+ nobody/,
  })
  await writeUnit(host.root, `SupplementaryGroups=${await findGroup(cache)}`)
  t.same(await host.list(), before)
  t.match(await host.enroll({ token: good }), { lockedBecause: null }, 'the token is still valid')
})

async function makeExpiredToken(
  t: Test,
  { port }: OwnCoordinator,
  fingerprint: string,
): Promise<string> {
  const environment = await makeHome(t)
  const { user, password } = administrator
  const server = ['--server', `https://127.0.0.1:${port}`, '--fingerprint', fingerprint]
  await call(['login', ...server, '--user', user, '--password-stdin'], {
    environment,
    input: password,
  })
  const expires = Math.ceil(Date.now() / 1000) + 1
  const words = ['jointokens', 'add', '--label', 'soon', '--expires', String(expires), '--json']
  const { out } = await call(words, { environment })
  await eventually('it has expired', () => Date.now() > expires * 1000)
  return (JSON.parse(out) as { token: string }).token // the form of the API's answer
}

void t.test('an agent that is not Running in time is undone', onlyRoot, async (t) => {
  const host = await makeHost(t)
  const before = await host.list()
  const token = await host.coordinator.makeToken()
  // The started agent reads another file than root did.
  const settings = join(host.root, 'etc/cachefleet/agent.yaml')
  await writeFile(settings, 'engine: attach\nwarmup: 1\n')
  const dead = [
    process.execPath,
    ...[join(checkout, 'test/enroll/systemctl.mjs'), '/no/such/program', host.root],
  ] as const

  await t.rejects(host.enroll({ token, waitMs: 1500, systemctl: [...dead] }), {
    name: 'EnrollError',
    message:
      /not Running within 2 s: the agent made no key; everything was taken back, and journalctl -u cachefleet-agent\.service/,
  })

  t.same(await host.list(), [...before, 'etc/cachefleet/agent.yaml'].toSorted())
  t.equal(await host.read('etc/cachefleet/agent.yaml'), 'engine: attach\nwarmup: 1\n')
})

void t.test(
  'a host that moves to another coordinator is Locked there at first',
  onlyRoot,
  async (t) => {
    const host = await makeHost(t)
    await host.enroll()
    const other = await startOwnCoordinator(t, await makeStateDir(t))
    const settings = join(host.root, 'etc/cachefleet/agent.yaml')
    const without = (await readFile(settings, 'utf8')).replace(/^coordinatorUrl: .*\n/m, '')
    await writeFile(settings, without)

    const enrolled = await host.enroll({
      coordinatorUrl: `wss://127.0.0.1:${other.port}`,
      token: await other.makeToken(),
    })

    t.match(enrolled.lockedBecause, /is enrolled at coordinator /)
    t.match(await readFile(settings, 'utf8'), `coordinatorUrl: wss://127.0.0.1:${other.port}`)
  },
)

/** Commands that run on a host beside the service: with the settings of its unit, and as the user that owns its state. */
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import t, { type Test } from 'tap'
import { emptyRecord } from '../src/agent/agent-record.js'
import { findRequest } from '../src/agent/apply/rollback-requests.js'
import { loadServiceSettings, requireStateDir } from '../src/service-settings.js'
import { readServiceUnit } from '../src/systemd-unit.js'
import { parallel } from './support/parallel.js'
import { makeStateDir, runDaemon, startCoordinator } from './support/daemon.js'
import { eventually } from './support/eventually.js'
import { root as checkout } from './support/root.js'

const isRoot = geteuid?.() === 0
const onlyRoot = { ...parallel(), skip: isRoot ? false : 'only root has the choice' }
const usage = 'usage'

t.jobs = 2

/** A host with our units and the folders that systemd creates for them. */
async function makeHost(t: Test, ...stateDirs: readonly string[]): Promise<string> {
  const host = await mkdtemp(join(tmpdir(), 'cachefleet-host-'))
  t.teardown(() => rm(host, { recursive: true, force: true }))
  const units = join(host, 'etc/systemd/system')
  await mkdir(units, { recursive: true })
  await mkdir(join(host, 'etc/cachefleet'))
  for (const kind of ['agent', 'coordinator']) {
    const unit = `cachefleet-${kind}.service`
    const text = await readFile(join(checkout, 'systemd', unit), 'utf8')
    await writeFile(join(units, unit), text.replace('--config /etc/', `--config ${host}/etc/`))
    await writeFile(join(host, 'etc/cachefleet', `${kind}.yaml`), '# Nothing is set.\n')
  }
  for (const folder of stateDirs) await mkdir(join(host, 'var/lib', folder), { recursive: true })
  return host
}

void t.test('the unit of an instance is read from its template', parallel(), async (t) => {
  const host = await makeHost(t)
  await writeFile(
    join(host, 'etc/systemd/system/cachefleet-agent@.service'),
    `[Service]
User=cachefleet
SupplementaryGroups=varnish vinyl
StateDirectory=cachefleet-%i
ExecStart=/usr/bin/cachefleetd --config /etc/cachefleet/agent-%i.yaml
`,
  )
  t.match(readServiceUnit('cachefleet-agent@edge.service', host), {
    name: 'cachefleet-agent@edge.service',
    stateDir: join(host, 'var/lib/cachefleet-edge'),
    user: 'cachefleet',
    groups: ['varnish', 'vinyl'],
    words: ['--config', '/etc/cachefleet/agent-edge.yaml'],
  })
})

void t.test(
  'a unit defines its state directory, environment and settings',
  parallel(),
  async (t) => {
    const host = await makeHost(t)
    const dropIns = join(host, 'run/systemd/system/cachefleet-coordinator.service.d')
    await mkdir(dropIns, { recursive: true })
    await mkdir(join(host, 'etc/default'))
    await writeFile(
      join(host, 'etc/default/cachefleet-coordinator'),
      '# a comment\nCACHEFLEET_STORE="postgres://fleet:p=w d@db/fleet"\nMORE=--heartbeat 7\n',
    )
    await writeFile(
      join(dropIns, 'own.conf'),
      `[Unit]
StateDirectory=elsewhere
[Service]
Environment="CACHEFLEET_NAME=one" 'ADDRESS=10.0.0.1:8002'
ExecStart=
ExecStart=/usr/bin/node /usr/lib/cachefleet/dist/bin/cachefleetd.js --coordinator \\
  --listen \${ADDRESS} $MORE
`,
    )

    const { settings, ...unit } = readServiceUnit('cachefleet-coordinator.service', host) ?? {}
    t.match(settings, { ProtectSystem: 'strict', CapabilityBoundingSet: '', UMask: '0077' })
    t.strictSame(unit, {
      name: 'cachefleet-coordinator.service',
      stateDir: join(host, 'var/lib/cachefleet-coordinator'),
      user: 'cachefleet-coordinator',
      groups: [],
      environment: {
        MALLOC_ARENA_MAX: '2',
        CACHEFLEET_NAME: 'one',
        ADDRESS: '10.0.0.1:8002',
        CACHEFLEET_STORE: 'postgres://fleet:p=w d@db/fleet',
        MORE: '--heartbeat 7',
      },
      words: ['--coordinator', '--listen', '10.0.0.1:8002', '--heartbeat', '7'],
    })
    t.equal(readServiceUnit('another.service', host), undefined)
  },
)

void t.test('root finds the state of the installed service', onlyRoot, async (t) => {
  const host = await makeHost(t, 'cachefleet', 'cachefleet-coordinator/history')
  const environment = { XDG_STATE_HOME: join(host, 'root') }
  const options = { environment, usage, root: host }
  const dirOf = (kind: 'agent' | 'coordinator', words: string[] = []) =>
    loadServiceSettings(kind, words, options).settings.stateDir

  t.equal(dirOf('coordinator'), join(host, 'var/lib/cachefleet-coordinator'))
  t.equal(dirOf('agent'), join(host, 'var/lib/cachefleet-coordinator'), 'its agent has a history')
  await mkdir(join(host, 'var/lib/cachefleet/history'))
  t.equal(dirOf('agent'), join(host, 'var/lib/cachefleet'))
  t.equal(dirOf('agent', ['--state-dir', '/elsewhere']), '/elsewhere', 'unless a flag overrides it')
  const given = { ...options, environment: { STATE_DIRECTORY: '/given' } }
  t.equal(loadServiceSettings('agent', [], given).settings.stateDir, '/given')
  await rm(join(host, 'var'), { recursive: true })
  const nowhere = loadServiceSettings('agent', [], options)
  t.throws(() => {
    requireStateDir('agent', nowhere)
  }, /no state of an agent was found: .*cachefleet-agent.service.*--state-dir/)
})

void t.test('without a state, commands fail and create no store', parallel(), async (t) => {
  const home = await makeStateDir(t)
  const environment = { XDG_STATE_HOME: home }
  for (const words of [
    ['rollback', '--list'],
    ['secret', 'rotate'],
    ['admin', 'add', 'x'],
  ])
    t.match(await runDaemon(words, { environment, input: 'a long password\n' }), {
      code: 78,
      errors: /no state of (an agent|a coordinator) was found.*--state-dir/,
    })
  const words = ['secret', 'rotate', '--state-dir', home]
  t.match(await runDaemon(words), { code: 78, errors: /there is no store .*coordinator.db/ })
  t.same(await readdir(home), [])
})

void t.test(
  'a list ends without an error when its output is closed early',
  parallel(),
  async (t) => {
    const home = await makeStateDir(t)
    await mkdir(join(home, 'history'))
    await writeFile(join(home, 'history', '000000001.json'), JSON.stringify(emptyRecord))
    const words = ['rollback', '--list', '--state-dir', home]
    t.match(await runDaemon(words), { code: 0, output: /^1 {2}/ })
    t.match(await runDaemon(words, { isUnread: true }), { code: 0, errors: '' })
  },
)

void t.test('files that root writes belong to the service’s user', onlyRoot, async (t) => {
  const owner = 65_534
  const coordinator = await startCoordinator(t)
  await coordinator.daemon.stop()
  const { stateDir } = coordinator
  await mkdir(join(stateDir, 'history'))
  const good = { ...emptyRecord, lockedBecause: null }
  await writeFile(join(stateDir, 'history', '000000001.json'), JSON.stringify(good))
  const list = async () => ['', ...(await readdir(stateDir, { recursive: true }))]
  const owners = async () =>
    new Set(
      await Promise.all((await list()).map(async (name) => (await stat(join(stateDir, name))).uid)),
    )
  for (const name of await list()) await chown(join(stateDir, name), owner, owner)

  const input = 'another long password\n'
  for (const words of [
    ['admin', 'set-password', 'root'],
    ['secret', 'rotate'],
  ])
    t.match(await runDaemon([...words, '--state-dir', stateDir], { input }), { code: 0 })
  t.strictSame(await owners(), new Set([owner]))

  const rollback = runDaemon(['rollback', '--state-dir', stateDir])
  const request = await eventually('the request is written', () => findRequest(stateDir))
  t.strictSame(await owners(), new Set([owner]))
  const answer = { id: request.id, done: true, message: 'it is done' }
  const draft = join(stateDir, 'draft')
  await writeFile(draft, JSON.stringify(answer), { mode: 0o600 })
  await chown(draft, owner, owner)
  await rename(draft, join(stateDir, 'rollback-answer.json'))
  t.match(await rollback, { code: 0, output: /it is done/ })
})

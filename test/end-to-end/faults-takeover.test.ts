/**
 * SIGKILL at every step by which an agent takes over a cache that served another VCL: at registration, and at the first deploy if
 * the takeover is delayed. Each row has its own cache and agent. No foreign VCL is lost before its source is saved, and the next
 * deploy works.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { answering, fetchMark, listVcls, quoted } from '../support/observe-cache.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy, type LinkProxy } from '../support/link-proxy.js'
import { startManagementProxy } from '../support/management-proxy.js'
import { startVarnishd } from '../support/varnishd.js'
import {
  after,
  around,
  describeStep,
  isUnseen,
  strike,
  victims,
  type Step,
  type Struck,
  type Victim,
} from './faults.js'
import { parallel } from '../support/parallel.js'
import { makeSite, startTraffic, untilAgent } from './harness.js'

const takeovers = ['registration', 'first-deploy'] as const
type Takeover = (typeof takeovers)[number]

/** The idle VCL, or the first deployed one, is loaded and used; unmanaged VCLs are saved and discarded. */
const all = ['vcl.inline', 'vcl.use', 'vcl.discard']
const rows: Readonly<Record<Victim, Readonly<Record<Takeover, readonly Step[]>>>> = {
  agent: { registration: around(...all), 'first-deploy': around(...all) },
  coordinator: { registration: after('vcl.use'), 'first-deploy': after(...all) },
  connection: { registration: after(...all), 'first-deploy': after('vcl.use') },
  child: { registration: after(...all), 'first-deploy': [] },
  manager: { registration: after('vcl.inline', 'vcl.use'), 'first-deploy': after('vcl.discard') },
}

interface Fixture {
  readonly coordinator: CoordinatorProcess
  readonly link: LinkProxy
}

/** Rows run in parallel on one coordinator, except those that kill it: they have their own, and run one after the other. */
t.jobs = 5
const shared = await startFixture(t)
for (const victim of victims)
  if (victim === 'coordinator')
    void t.test('a takeover survives the loss of the coordinator', parallel(), async (t) => {
      const own = await startFixture(t)
      for (const row of rowsOf(victim)) await t.test(row.title, (t) => checkRow(t, own, row))
    })
  else
    for (const row of rowsOf(victim))
      void t.test(`a takeover survives the loss of the ${victim}: ${row.title}`, parallel(), (t) =>
        checkRow(t, shared, row),
      )

function rowsOf(victim: Victim): Row[] {
  return takeovers.flatMap((takeover) =>
    rows[victim][takeover].map((step, index) => ({
      victim,
      takeover,
      step,
      name: `${victim}-${takeover}-${index}`,
      title: `${takeover}, ${describeStep(step)}`,
    })),
  )
}

async function startFixture(t: Test): Promise<Fixture> {
  const coordinator = await startCoordinator(t, { words: ['--no-agent', '--heartbeat', '3'] })
  return { coordinator, link: await startLinkProxy(t, coordinator.port) }
}

interface Row {
  readonly victim: Victim
  readonly takeover: Takeover
  readonly step: Step
  /** The name of the agent, of its only tag and of its group. */
  readonly name: string
  readonly title: string
}

/** Another foreign VCL besides `boot`, with a label. */
const beside = answering('beside')

async function checkRow(t: Test, at: Fixture, row: Row): Promise<void> {
  const { victim, takeover, step, name } = row
  const { api } = at.coordinator
  const harness = await startTakeover(t, at, row)
  const { cache } = harness
  const traffic = startTraffic(t, cache)
  if (takeover === 'registration') {
    await strike(harness, victim, step, () => {
      harness.startAgent()
      return Promise.resolve(null)
    })
    await eventually(
      'the idle VCL serves alone',
      async () => (await listVcls(cache)).join() === 'cf-idle',
    )
  } else {
    harness.startAgent()
    await untilAgent({ api }, 'Running', name)
    t.equal((await fetchMark(cache)).mark, 'foreign')
  }
  const site = await makeSite({ api }, name, { tag: name })
  if (takeover === 'first-deploy') {
    await strike(harness, victim, step, () => api.act(site.id, 'deploy'))
    await eventually('the cache serves the old VCL, or the group’s', async () => {
      const { mark = 'nothing' } = await fetchMark(cache)
      return ['foreign', `${name}-first`].includes(mark)
    })
  }
  await eventually('the next deploy works', async () => {
    const { status, text } = await api.act(site.id, 'deploy')
    if (status !== 200) throw new Error(text)
    return true
  })
  await eventually('its group serves, and no other VCL is loaded', async () => {
    const { mark } = await fetchMark(cache)
    const names = (await listVcls(cache)).filter((one) => one !== 'cf-idle')
    if (mark === `${name}-first` && names.length === 1) return true
    throw new Error(`it serves ${mark ?? 'nothing'} and holds ${names.join()}`)
  })
  await checkKept(t, harness, victim)
  if (takeover === 'first-deploy' && isUnseen(victim))
    t.same([...traffic.failures], [], 'the foreign VCL served until then')
  await traffic.stop()
  await Promise.all([harness.agent.stop(), cache.stop()])
}

interface Taken extends Struck {
  readonly stateDir: string
}

async function startTakeover(t: Test, at: Fixture, { name, takeover }: Row): Promise<Taken> {
  const cache = await startVarnishd(t, { vcl: answering('foreign') })
  await cache.adm('vcl.inline', 'beside', quoted(beside))
  await cache.adm('vcl.label', 'shown', 'beside')
  const port = await startManagementProxy(t, cache)
  const stateDir = await makeStateDir(t)
  const joinToken = await at.coordinator.api.makeJoinToken()
  let agent: Daemon | undefined
  return {
    ...at,
    cache,
    port,
    stateDir,
    get agent() {
      if (!agent) throw new Error('the agent was not started yet')
      return agent
    },
    startAgent: () => {
      agent = startAgent(t, cache, {
        coordinatorUrl: at.link.url,
        name,
        stateDir,
        tags: [name],
        joinToken,
        port: port.port,
        words: ['--takeover', takeover],
      })
    },
  }
}

/** A new manager does not have the VCLs that were loaded in addition to its start VCL. */
async function checkKept(t: Test, { stateDir }: Taken, victim: Victim): Promise<void> {
  const folder = join(stateDir, 'foreign')
  const files = await readdir(folder)
  const texts = { boot: answering('foreign'), beside }
  for (const [name, text] of Object.entries(texts)) {
    const kept = files.filter((file) => file.endsWith(`-${name}.vcl`))
    if (victim !== 'manager') t.not(kept.length, 0, `${name} was kept`)
    for (const file of kept)
      t.equal((await readFile(join(folder, file), 'utf8')).trimEnd(), text.trimEnd())
  }
  t.equal(files.filter((file) => /-(shown|cf-.*)\.vcl$/.test(file)).length, 0, 'and no other')
}

/**
 * SIGKILL at every step of a deploy and of a rollback of a root group, and of a deploy that replaces one by another, of the
 * coordinator, the agent, the cache's child or its manager. In each case it ends in the new state or the old one, the status shows
 * which, and the next verb works.
 */
import t, { type Test } from 'tap'
import type { CallAnswer } from '../support/http-call.js'
import { parallel } from '../support/parallel.js'
import {
  after,
  around,
  bothMoments,
  checkTraffic,
  describeStep,
  forgetFailures,
  readPromise,
  strike,
  untilAgreed,
  victims,
  type Step,
  type Victim,
} from './faults.js'
import { checkReplaceRows, isReplaceVictim, type ReplaceVictim } from './replace-kills.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  startHarness,
  startShared,
  startTraffic,
  untilAgent,
  type Site,
  type Harness,
} from './harness.js'

/** `back`: to the previous VCL, which is still loaded; `far back`: to a VCL that must be compiled again. Both by revision. */
type Verb = 'deploy' | 'back' | 'far back'

interface Row {
  readonly verb: Verb
  readonly step: Step
}

const rowsOf = (verb: Verb, steps: readonly Step[]): Row[] => steps.map((step) => ({ verb, step }))

/** `apply` and its report, of phase one and of phase two; the hello after a link broke in phase one. */
const messages = [
  ...[1, 2].flatMap((nth) =>
    ['apply', 'applyReport'].flatMap((name) => bothMoments({ on: 'link', name, nth })),
  ),
  ...bothMoments({ on: 'link', name: 'hello', nth: 1 }),
]

/** Phase one loads; phase two uses, and discards the VCL before the previous one. */
const commands = [
  ...rowsOf('deploy', around('vcl.inline', 'vcl.use', 'vcl.discard')),
  ...rowsOf('back', around('vcl.use')),
  ...rowsOf('far back', after('vcl.inline', 'vcl.use')),
]
const all = [...commands, ...rowsOf('deploy', messages)]
const rows: Readonly<Record<Victim, readonly Row[]>> = {
  // Between two commands, the coordinator sends nothing: before the next one is the same as after this one.
  coordinator: all.filter(({ step }) => step.on === 'link' || step.moment === 'after'),
  agent: all,
  // The link is cut before a message is passed on: after it, the sender of the next message notices.
  connection: all.filter(({ step }) => step.on === 'port' || step.moment === 'before'),
  child: commands,
  manager: commands,
}

/** Each victim has its own agent and cache, and the killed coordinator is separate; they run in parallel. */
t.jobs = victims.length
const shared = startShared(t)
for (const victim of victims)
  void t.test(`deploys and rollbacks survive the loss of the ${victim}`, parallel(), (t) =>
    loseVictim(t, victim),
  )

async function loseVictim(t: Test, victim: Victim): Promise<void> {
  const harness = await startHarness(t, {
    ...(victim !== 'coordinator' && { shared: await shared }),
    agentName: `edge-${victim}`,
    agentTag: `web-${victim}`,
  })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, victim)
  await deploySite(harness, site)
  for (const mark of ['second', 'third']) {
    await editSite(harness, site, mark)
    await deploySite(harness, site)
  }
  const traffic = startTraffic(t, harness.cache)
  const read = () => readAgreement(harness, site)
  for (const [index, { verb, step }] of rows[victim].entries()) {
    const title = `${victim} lost in a ${verb}, ${describeStep(step)}`
    const before = await untilAgreed('before a fault', read)
    traffic.forget()
    const { wanted, act } = await prepare(harness, site, verb, `${victim}-${index}`)

    const answer = await strike(harness, victim, step, act)

    const mark = await untilAgreed(title, read, readPromise(answer, { before, wanted }))
    t.ok([before, wanted].includes(mark), `${title}: the wanted or the old one serves`)
    await checkTraffic(t, { harness, victim, title, traffic }, [before, wanted])
    if (step.on === 'port') await forgetFailures(harness, victim)
  }
  await editSite(harness, site, 'last')
  await deploySite(harness, site)
  t.equal(await readAgreement(harness, site), 'last', 'a last deploy works')
  await traffic.stop()
  if (isReplaceVictim(victim)) await checkReplaces(t, harness, victim)
}

/** With groups of one text each. */
async function checkReplaces(t: Test, harness: Harness, victim: ReplaceVictim): Promise<void> {
  const [one, two] = [
    await makeSite(harness, `${victim}-one`),
    await makeSite(harness, `${victim}-two`),
  ] as const
  expectDone(await harness.api.act(one.id, 'deploy', '?replace=true'))
  await checkReplaceRows(t, { harness, victim }, [one, two])
}

interface Prepared {
  /** The mark that serves after success. */
  readonly wanted: string
  readonly act: () => Promise<CallAnswer>
}

async function prepare(harness: Harness, site: Site, verb: Verb, mark: string): Promise<Prepared> {
  const { api } = harness
  if (verb === 'deploy') {
    await editSite(harness, site, mark)
    return { wanted: mark, act: () => api.act(site.id, 'deploy', '?wait=25') }
  }
  const served = new Map<string, number>()
  for (const { revision, mainVCL } of await api.readHistory(site.id)) {
    const one = site.marks.get(mainVCL.version) ?? ''
    if (revision !== null && !served.has(one)) served.set(one, revision)
  }
  const [wanted, revision] = [...served][verb === 'back' ? 1 : 2] ?? ['none', 0]
  return {
    wanted,
    act: () => api.call('PUT', `/vclgroups/${site.id}/rollback?wait=25`, { revision }),
  }
}

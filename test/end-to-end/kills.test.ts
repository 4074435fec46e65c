/**
 * SIGKILL at every step of a deploy, driven from outside: proxies count management commands and messages of the link and
 * kill the coordinator, the agent, the cache's child or its manager before or after one of them. Whatever dies when, it
 * ends in the deployed state or the old one, the status says which, and the next deploy works.
 */
import t, { type Test } from 'tap'
import type { ApiAnswer } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import {
  agentName,
  deploySite,
  editSite,
  makeSite,
  readAgreement,
  startStand,
  startTraffic,
  untilAgent,
  type Site,
  type Stand,
} from './stand.js'

/** Where a deploy is struck: the n-th command of a name on the management port, or the n-th message of a kind. */
interface Step {
  readonly on: 'port' | 'link'
  readonly name: string
  readonly nth: number
  readonly moment: 'before' | 'after'
}

/** `connection`: nobody dies, but what is being said is lost. */
type Victim = 'coordinator' | 'agent' | 'connection' | 'child' | 'manager'

const bothMoments = (step: Omit<Step, 'moment'>): Step[] => [
  { ...step, moment: 'before' },
  { ...step, moment: 'after' },
]

/** Phase one loads; phase two uses, and discards what was the previous revision. */
const commands = ['vcl.inline', 'vcl.use', 'vcl.discard'].flatMap((name) =>
  bothMoments({ on: 'port', name, nth: 1 }),
)
/** `apply` and its report, of phase one and of phase two; hello of a link that broke in phase one. */
const messages = [
  ...[1, 2].flatMap((nth) =>
    ['apply', 'applyReport'].flatMap((name) => bothMoments({ on: 'link', name, nth })),
  ),
  ...bothMoments({ on: 'link', name: 'hello', nth: 1 }),
]

/** Each lane has a coordinator, an agent and a cache of its own; they run side by side, for most of it is waiting. */
const lanes: readonly (readonly [Victim, readonly Step[]])[] = [
  ['coordinator', [...commands, ...messages]],
  ['agent', [...commands, ...messages]],
  ['connection', [...commands, ...messages]],
  ['child', commands],
  ['manager', commands],
]

const agreementTimeoutMs = 30_000

t.jobs = lanes.length
for (const [victim, steps] of lanes)
  void t.test(
    `a deploy survives the loss of the ${victim}`,
    { buffered: true, timeout: 220_000 },
    (t) => runLane(t, victim, steps),
  )

async function runLane(t: Test, victim: Victim, steps: readonly Step[]): Promise<void> {
  const stand = await startStand(t)
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, victim)
  await deploySite(stand, site)
  const traffic = startTraffic(t, stand.cache)
  for (const [index, step] of steps.entries()) {
    const { on, name, nth, moment } = step
    const before = `${victim}-${index}-before`
    const after = `${victim}-${index}-after`
    await editSite(stand, site, before)
    await deploySite(stand, site) // a further deploy works; and from the second on there is one to discard
    const title = `${victim} lost ${moment} ${name} ${nth} of the ${on}`
    const first = await readAgreement(stand, site)
    t.equal(first, before, `${title}: the deploy before it`)
    traffic.forget()

    await editSite(stand, site, after)
    const answer = await strike(stand, site, victim, step)

    const mark = await eventually(
      `${title}: all agree`,
      () => readAgreement(stand, site),
      agreementTimeoutMs,
    )
    t.ok([before, after].includes(mark), `${title}: the deployed or the old one serves`)
    if (answer) t.equal(mark, answer.status === 200 ? after : before, `${title}: as answered`)
    // Where the cache itself lived on.
    if (victim === 'child' || victim === 'manager') continue
    t.same([...traffic.failures], [], `${title}: no request failed meanwhile`)
    const others = [...traffic.marks].filter((seen) => seen !== before && seen !== after)
    t.same(others, [], `${title}: nothing else was served`)
    const agent = await stand.api.findAgent(agentName)
    t.equal(agent?.drift, null, `${title}: no step of ours is taken for a change from outside`)
  }
  await editSite(stand, site, `${victim}-last`)
  await deploySite(stand, site)
  t.equal(await readAgreement(stand, site), `${victim}-last`, 'a last deploy works')
}

/** Deploys, kills, and starts again what was killed. Null: nobody was left to answer, or it goes on (202). */
async function strike(
  stand: Stand,
  site: Site,
  victim: Victim,
  step: Step,
): Promise<ApiAnswer | null> {
  const struck = setTrap(stand, victim, step)
  const call = stand.api.act(site.id, 'deploy', '?wait=25').catch(() => null)
  // A coordinator that is killed answers nobody, and that may be seen before the kill is reported.
  const early = call.then(async (answer) => {
    if (answer === null) await struck
    return answer
  })
  let isStruck = false
  const strikes = struck.then(() => {
    isStruck = true
    return null
  })
  const first = await Promise.race([strikes, early])
  // After the last message the answer may overtake the end of the victim.
  if (first) await eventually(`${JSON.stringify([step, first])}: the step is met`, () => isStruck)
  await revive(stand, victim)
  const answer = await call
  return answer?.status === 202 ? null : answer
}

function setTrap(stand: Stand, victim: Victim, step: Step): Promise<void> {
  const isPeer = step.on === 'link' || victim === 'agent' || victim === 'connection'
  const trap = {
    ...step,
    act: () => kill(stand, victim),
    fate: isPeer ? ('drop' as const) : ('pass' as const),
  }
  if (step.on === 'port') return stand.port.trap(trap)
  if (step.name !== 'hello') return stand.link.trap(trap)
  // The link breaks in phase one; the hello of the next one is the step.
  const broken = { name: 'apply', moment: 'before', fate: 'drop', act: () => undefined } as const
  return stand.link.trap(broken).then(() => stand.link.trap(trap))
}

async function kill(stand: Stand, victim: Victim): Promise<void> {
  if (victim === 'coordinator') await stand.coordinator.daemon.kill()
  else if (victim === 'agent') await stand.agent.kill()
  else if (victim === 'manager') await stand.cache.stop('SIGKILL')
  else if (victim === 'child') process.kill((await stand.cache.childPid()) ?? 0, 'SIGKILL')
}

async function revive(stand: Stand, victim: Victim): Promise<void> {
  if (victim === 'coordinator') await stand.coordinator.start()
  else if (victim === 'agent') stand.startAgent()
  else if (victim === 'manager') await stand.cache.restart()
  // The manager starts its child again by itself, unless the loss made it give up (mgt_vcl_discard asserts).
  else if (victim === 'child' && (await isManagerGone(stand))) await stand.cache.restart()
}

async function isManagerGone({ cache }: Stand): Promise<boolean> {
  const manager = cache.pid()
  let isGone = false
  await eventually('the child runs again, or the manager is gone', async () => {
    isGone = !isAlive(manager)
    return isGone || (await cache.childPid()) !== null
  })
  return isGone
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Faults, injected from outside: proxies count management commands and messages of the link, and a process dies before or after one of
 * them. Afterwards, `readAgreement` of harness.ts must hold, and no request may have failed except through the fault.
 */
import type { Test } from 'tap'
import type { CallAnswer } from '../support/http-call.js'
import { eventually } from '../support/eventually.js'
import { untilAgent, type Harness, type Traffic } from './harness.js'

/** The n-th command of a name on the management port, or the n-th message of a kind, since the trap was set. */
export interface Step {
  readonly on: 'port' | 'link'
  readonly name: string
  readonly nth: number
  readonly moment: 'before' | 'after'
}

/** `connection`: no process dies, but the message in transit is lost. */
export type Victim = 'coordinator' | 'agent' | 'connection' | 'child' | 'manager'

export const victims: readonly Victim[] = ['coordinator', 'agent', 'connection', 'child', 'manager']

export const bothMoments = (step: Omit<Step, 'moment'>): Step[] => [
  { ...step, moment: 'before' },
  { ...step, moment: 'after' },
]

/** Both moments of commands on the management port, written `vcl.use` or, for the second of a kind, `vcl.inline 2`. */
export const around = (...commands: readonly string[]): Step[] =>
  commands.map(parseCommand).flatMap(bothMoments)

/** The cache has executed the command, and the agent does not know it. */
export const after = (...commands: readonly string[]): Step[] =>
  commands.map((command) => ({ ...parseCommand(command), moment: 'after' }))

function parseCommand(command: string): Omit<Step, 'moment'> {
  const [name = '', nth = '1'] = command.split(' ')
  return { on: 'port', name, nth: Number(nth) }
}

export const describeStep = ({ on, name, nth, moment }: Step): string =>
  `${moment} ${name} ${nth} of the ${on}`

/**
 * The mark that the answer promises to serve in the end: the new one if the deploy succeeded (200), or if too few agents were left
 * for it, as the deploy stays pending (503); otherwise the old one. Null: there was no answer.
 */
export function readPromise(
  answer: CallAnswer | null,
  { before, wanted }: { readonly before: string; readonly wanted: string },
): string | null {
  if (answer === null) return null
  return answer.status === 200 || answer.status === 503 ? wanted : before
}

/** Resolves with the mark that serves once all parts agree; it must be the promised one. */
export function untilAgreed(
  title: string,
  read: () => Promise<string>,
  promise: string | null = null,
): Promise<string> {
  return eventually(`${title}: all agree`, async () => {
    const mark = await read()
    if (promise !== null && mark !== promise)
      throw new Error(`${mark} serves, and ${promise} was promised`)
    return mark
  })
}

/** The parts of a harness that a fault needs. */
export type Struck = Pick<
  Harness,
  'cache' | 'port' | 'link' | 'coordinator' | 'agent' | 'startAgent'
>

/**
 * Acts, kills at the step, and restarts the victim. Returns the answer to the act; null if no process was left to answer, or if the
 * deploy continues (202). Fails if the step is never reached.
 */
export async function strike(
  harness: Struck,
  victim: Victim,
  step: Step,
  act: () => Promise<CallAnswer | null>,
): Promise<CallAnswer | null> {
  const struck = setTrap(harness, victim, step)
  const call = act().catch(() => null)
  // A killed coordinator sends no answer, which may be noticed before the kill is reported.
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
  // After the last message, the answer may arrive before the end of the victim.
  if (first) await eventually(`${JSON.stringify([step, first])}: the step is met`, () => isStruck)
  await revive(harness, victim)
  const answer = await call
  return answer?.status === 202 ? null : answer
}

function setTrap(harness: Struck, victim: Victim, step: Step): Promise<void> {
  const isPeer = step.on === 'link' || victim === 'agent' || victim === 'connection'
  const trap = {
    ...step,
    act: () => kill(harness, victim),
    fate: isPeer ? ('drop' as const) : ('pass' as const),
  }
  if (step.on === 'port') return harness.port.trap(trap)
  if (step.name !== 'hello') return harness.link.trap(trap)
  // The link breaks in phase one; the hello of the next link is the step.
  const broken = { name: 'apply', moment: 'before', fate: 'drop', act: () => undefined } as const
  return harness.link.trap(broken).then(() => harness.link.trap(trap))
}

async function kill(harness: Struck, victim: Victim): Promise<void> {
  if (victim === 'coordinator') await harness.coordinator.daemon.kill()
  else if (victim === 'agent') await harness.agent.kill()
  else if (victim === 'manager') await harness.cache.stop('SIGKILL')
  else if (victim === 'child') process.kill((await harness.cache.childPid()) ?? 0, 'SIGKILL')
}

async function revive(harness: Struck, victim: Victim): Promise<void> {
  if (victim === 'coordinator') await harness.coordinator.start()
  else if (victim === 'agent') harness.startAgent()
  else if (victim === 'manager') await harness.cache.restart()
  // The manager restarts its child by itself, unless the loss made it give up (mgt_vcl_discard asserts).
  else if (victim === 'child' && (await isManagerGone(harness))) await harness.cache.restart()
}

async function isManagerGone({ cache }: Struck): Promise<boolean> {
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

/**
 * An agent waits longer after each repeated failure of its cache (src/agent/engine/flap-damper.ts); a new process of the agent, as
 * after its own loss, remembers no failure.
 */
export async function forgetFailures(harness: Harness, victim: Victim): Promise<void> {
  if (victim === 'coordinator' || victim === 'agent') return
  await harness.agent.stop()
  harness.link.forget()
  harness.startAgent()
  await eventually('the agent is back, and has reported the state of its cache', () => {
    const messages = harness.agent.lines().map(({ msg }) => msg)
    const [seen, linked] = ['connected to the cache', 'linked to the coordinator'].map((words) =>
      messages.indexOf(words),
    )
    if (seen === undefined || linked === undefined || seen < 0 || linked < 0) return false
    // If the hello was sent before the first check of the cache, a heartbeat with the result follows.
    return seen < linked || harness.link.count('heartbeat') > 0
  })
  await untilAgent(harness, 'Running')
}

/** The cache itself kept running, so that no request may have failed, and no change from outside may be reported. */
export const isUnseen = (victim: Victim): boolean => victim !== 'child' && victim !== 'manager'

interface Seen {
  readonly harness: Harness
  readonly victim: Victim
  readonly title: string
  readonly traffic: Traffic
}

/** No request failed except through the fault itself, and only `allowed` marks were served. */
export async function checkTraffic(
  t: Test,
  { harness, victim, title, traffic }: Seen,
  allowed: readonly string[],
): Promise<void> {
  // While child or manager is dead, the port is closed; a new manager serves its start VCL.
  const failures = isUnseen(victim) ? [] : ['answered 0']
  const marks = isUnseen(victim) ? allowed : [...allowed, 'foreign']
  t.same(
    [...traffic.failures].filter((seen) => !failures.includes(seen)),
    [],
    `${title}: no request failed meanwhile`,
  )
  t.same(
    [...traffic.marks].filter((seen) => !marks.includes(seen)),
    [],
    `${title}: nothing else was served`,
  )
  if (!isUnseen(victim)) return
  const agent = await harness.api.findAgent(harness.agentName)
  t.equal(agent?.drift, null, `${title}: no step of ours is taken for a change from outside`)
}

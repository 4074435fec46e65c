/** What is kept of the observations of agents, and their release, as pure functions. */
import fc from 'fast-check'
import t from 'tap'
import { createInProcessBus } from '../../../src/coordinator/bus/in-process.js'
import {
  rolloutObservedSubject,
  rolloutObserveSubject,
} from '../../../src/coordinator/bus/subjects.js'
import { createObservations } from '../../../src/coordinator/rollouts/observations.js'
import {
  countSecondsAfter,
  keepSpans,
  splitAtSwitch,
  type Span,
} from '../../../src/coordinator/rollouts/observed-spans.js'
import { addUp } from '../../../src/coordinator/rollouts/observed-seconds.js'
import { rolloutStates } from '../../../src/resources/rollout.js'
import { eventually } from '../../support/eventually.js'
import { makeRollout } from './made-rollout.js'

const nothing = { figures: null, backendFailures: 0, restarts: 0 }

/** One span a second, the last one at `until`. */
function makeSpans(programs: readonly string[], until = programs.length * 1000): Span[] {
  return programs.map((program, at) => ({
    ...nothing,
    program,
    seconds: 1,
    backendRequests: at,
    at: until - (programs.length - 1 - at) * 1000,
  }))
}

void t.test('the last 15 minutes are kept whole, in few pieces of one program each', (t) => {
  const runs = fc.array(fc.record({ program: fc.constantFrom('a', 'b'), count: fc.nat(400) }), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(
      runs,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 40 }),
      (runs, piece, each) => {
        const spans = makeSpans(
          runs.flatMap(({ program, count }) => Array<string>(count).fill(program)),
        )
        let kept: readonly Span[] = []
        for (let at = 0; at < spans.length; at += each)
          kept = keepSpans(kept, spans.slice(at, at + each), piece)
        const sum = addUp(kept)
        const newest = spans.slice(-sum.seconds)
        const isWhole = sum.seconds === spans.length || sum.seconds >= 900
        const isBounded = sum.seconds <= 960 && kept.length <= 60 + 2 * 16 + 2 * runs.length
        const last = spans.findLastIndex(({ program }) => program !== 'a')
        const { since } = splitAtSwitch(kept, 'a')
        return (
          isWhole &&
          isBounded &&
          sum.backendRequests === addUp(newest).backendRequests &&
          addUp(since).seconds === Math.min(spans.length - 1 - last, sum.seconds)
        )
      },
    ),
  )
  t.end()
})

void t.test('observations of an earlier program do not count for the current one', (t) => {
  const spans = makeSpans(['new', 'new', 'old', 'old', 'old', 'new', 'new'])
  const { since, before } = splitAtSwitch(spans, 'new')
  t.same(since, spans.slice(5))
  t.same(before, spans.slice(2, 5))
  t.same(splitAtSwitch(spans.slice(0, 5), 'new').since, [])
  t.equal(countSecondsAfter(since, 6500), 0.5 + 0)
  t.end()
})

void t.test('moving the clock loses no observation', async (t) => {
  const bus = createInProcessBus()
  t.teardown(() => bus.close())
  let now = 1_700_000_000_000
  const observations = createObservations(bus, () => now)
  const made = makeRollout({ groupId: 7, groupName: 'site', organizationId: null })
  const [wave] = made.waves
  if (!wave) throw new Error('it has a wave')
  const waves = [{ ...wave, startedAt: now, switchedAt: now }]
  const rollout = {
    ...made,
    id: 1,
    organization: null,
    epoch: 1,
    endedAt: null,
    reason: null,
    waves,
    state: rolloutStates.Baking,
  }
  let session = ''
  bus.subscribe(rolloutObserveSubject, ({ order }) => {
    session = order.session
  })
  observations.observe([rollout])
  await eventually('observation is requested', () => session !== '')
  const span = { ...nothing, figures: null, seconds: 1, backendRequests: 100, ageMs: 0 }
  const tell = (program: string, isWhole: boolean): void => {
    const spans = [{ ...span, program }]
    bus.publish(rolloutObservedSubject, {
      agentId: 1,
      group: 7,
      session,
      isWhole,
      spans,
      probes: [],
    })
  }
  tell('cf-1-aaaaaaaa-1', true)
  for (const movedMs of [-3_600_000, 3_600_000 * 2]) {
    now += movedMs
    tell(made.sources.programName, false)
  }
  await eventually('all have arrived', () => observations.read(rollout, 1).since.length === 2)
  t.equal(observations.read(rollout, 1).before.length, 1)
  observations.close()
})

/** What the page decides about rollouts without a browser: words, the offered verbs, the bake, the marks. */
import fc from 'fast-check'
import t from 'tap'
import { completePolicy } from '../../src/coordinator/rollouts/policy.js'
import { judgeVerb } from '../../src/coordinator/rollouts/next-step.js'
import {
  agentInWaveStates,
  gateNames,
  rolloutPolicy,
  rolloutStateName,
  rolloutStates,
  type GateResult,
  type GateRule,
  type GivenPolicy,
  type Rollout,
  type Wave,
} from '../../src/resources/rollout.js'
import { findTime, markWaves } from '../../src/page/views/group/rollout/chart-rollout.js'
import {
  countStates,
  describeBake,
  describeRollout,
  findShown,
  formatFigure,
  judgeWave,
  listVerbs,
  measureBake,
  nameGate,
  sortGates,
  wordOfState,
} from '../../src/page/views/group/rollout/describe-rollout.js'
import {
  describeWaves,
  listInputs,
  readPolicyFields,
  toPolicy,
} from '../../src/page/views/group/rollout/policy-fields.js'
import { findReason, nameResult } from '../../src/page/views/group/read-result.js'

const begun = '2026-11-24T12:00:00Z'
const later = '2026-11-24T12:10:00Z'

const waiting: Wave = {
  agents: [],
  startedAt: null,
  switchedAt: null,
  endedAt: null,
  verdict: null,
}
const passed: Wave = { ...waiting, startedAt: begun, endedAt: later, verdict: 'pass' }

const rollout: Rollout = {
  id: 7,
  organization: null,
  vclGroup: { id: 1, name: 'shop' },
  revision: 5,
  fromRevision: 4,
  state: rolloutStates.Baking,
  stateName: 'Baking',
  problems: [],
  wave: 2,
  waves: [passed, { ...waiting, startedAt: later }, waiting],
  gates: [],
  policy: { waves: [{ count: 1 }], bake: 60, maxBake: 120 },
  account: 'jo',
  startedAt: begun,
  endedAt: null,
  reason: null,
  bakedSeconds: 34,
}

void t.test('the page offers exactly the verbs that the coordinator would accept', (t) => {
  const verbs = ['pause', 'resume', 'advance', 'abort'] as const
  for (const state of Object.values(rolloutStates))
    for (const wave of [1, 2]) {
      const waves = [1, 2].map((id) => ({ agentIds: [id], holds: false }))
      const taken = verbs.filter(
        (verb) => typeof judgeVerb(verb, { state, wave, waves }) === 'string',
      )
      t.same(listVerbs({ state }), taken, rolloutStateName(state))
    }
  t.end()
})

void t.test('a rollout is described in a line', (t) => {
  t.equal(describeRollout(rollout), 'Rollout 7 to revision 5: Baking, wave 2 of 3')
  t.equal(wordOfState('RollingBack'), 'Rolling back')
  t.match(describeRollout({ ...rollout, wave: 0 }), /no wave of 3 begun$/)
  t.end()
})

void t.test('each wave has its state, and a verdict once it has ended', (t) => {
  const words = rollout.waves.map((_, at) => judgeWave(rollout, at))
  t.same(words, ['pass', 'baking', 'waiting'])
  const back = { ...rollout, stateName: 'RolledBack' as const, endedAt: later }
  t.equal(judgeWave(back, 2), 'not begun')
  t.end()
})

void t.test('a bake is described by the observed seconds, also when it is prolonged', (t) => {
  t.equal(describeBake(rollout), 'Observed for 34 of 60 s')
  t.match(describeBake({ ...rollout, bakedSeconds: 75 }), /^Observed for 75 s: .* at most 120 s/)
  t.equal(describeBake({ bakedSeconds: 61, policy: { bake: 60 } }), 'Observed for 60 of 60 s')
  const seconds = fc.nat(1000)
  fc.assert(
    fc.property(seconds, seconds, seconds, (bakedSeconds, bake, more) => {
      const share = measureBake({ bakedSeconds, policy: { bake, maxBake: bake + more } })
      return share >= 0 && share <= 1
    }),
  )
  t.end()
})

void t.test('every agent of a wave is counted in one state', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...agentInWaveStates)), (states) => {
      const agents = states.map((state, id) => ({
        agent: { id, name: `edge-${id}` },
        state,
        error: null,
      }))
      const counted = countStates(agents)
      const sum = counted.reduce((all, { count }) => all + count, 0)
      return sum === states.length && counted.every(({ count }) => count > 0)
    }),
  )
  t.end()
})

void t.test('gates have names and units, and failed ones are first', (t) => {
  for (const name of gateNames) t.not(nameGate(name), name, `${name} has words`)
  t.equal(nameGate('of-a-later-version'), 'of-a-later-version')
  t.equal(formatFigure('errors', 0.0789), '7.9%')
  t.equal(formatFigure('firstByte', 250), '250 ms')
  t.equal(formatFigure('firstByte', 41.234), '41 ms')
  t.equal(formatFigure('probe', 1), '–')
  t.equal(formatFigure('errors', null), '–')
  const gate = (verdict: GateResult['verdict'], name: GateResult['name']): GateResult => ({
    name,
    agent: null,
    baseline: null,
    control: null,
    observed: null,
    limit: null,
    verdict,
    reason: null,
    at: begun,
  })
  const sorted = sortGates([
    gate('pass', 'errors'),
    gate('fail', 'probe'),
    gate('pass', 'restarts'),
  ])
  t.same(
    sorted.map(({ name }) => name),
    ['probe', 'errors', 'restarts'],
  )
  t.end()
})

void t.test('an ended rollout is shown for ten minutes, a running one always', (t) => {
  const at = Date.parse(later)
  t.equal(findShown([], at), null)
  t.equal(findShown([rollout], at + 86_400_000), rollout)
  const ended = { ...rollout, endedAt: later }
  t.equal(findShown([ended, rollout], at + 599_000), ended)
  t.equal(findShown([ended, rollout], at + 600_000), null)
  t.end()
})

void t.test('its charts begin ten minutes before it, with a mark for each wave', (t) => {
  const seconds = Date.parse(begun) / 1000
  t.same(findTime(rollout, Date.parse(later)), { from: seconds - 600, to: seconds + 600 })
  const texts = (one: Rollout) => markWaves(one).map(({ text }) => text)
  t.same(texts(rollout), ['Wave 1', 'Wave 2'])
  const back = { ...rollout, stateName: 'RolledBack' as const, endedAt: later }
  t.same(texts(back), ['Wave 1', 'Wave 2', 'All are back'])
  t.end()
})

void t.test('the history shows the result in a word, and the reason in a line', (t) => {
  t.equal(nameResult('ok'), 'ok')
  t.equal(findReason('ok'), null)
  const back = 'rolled back: errors on all: 0.0789, limit 0.02'
  t.equal(nameResult(back), 'rolled back')
  t.equal(findReason(back), 'Errors on all: 0.0789, limit 0.02')
  t.equal(nameResult('site.vcl line 3 pos 1: expected'), 'failed')
  t.equal(findReason('site.vcl line 3 pos 1: x\nmore'), 'site.vcl line 3 pos 1: x')
  t.end()
})

const limits: Readonly<Record<GateRule['name'], fc.Arbitrary<Omit<GateRule, 'name'>>>> = {
  errors: fc.oneof(
    fc.integer({ min: 0, max: 1000 }).map((permille) => ({ max: permille / 1000 })),
    fc.integer({ min: 1, max: 100 }).map((factor) => ({ factor })),
  ),
  hitRatio: fc.integer({ min: 0, max: 100 }).map((points) => ({ drop: points / 100 })),
  backendFailures: fc.constant({}),
  firstByte: fc.record({ percentile: fc.constantFrom(50, 99.9), maxMs: fc.constant(250) }),
  backendsHealthy: fc.record({ min: fc.integer({ min: 1, max: 9 }) }),
  restarts: fc.constant({}),
  probe: fc.constant({ path: '/health', host: '127.0.0.1', status: 204, bodyContains: '7' }),
  webhook: fc.constant({ webhook: { id: 3 } }),
}
const gates = fc
  .constantFrom(...gateNames)
  .chain((name) => limits[name].map((limit): GateRule => ({ name, ...limit })))
const waves = fc.oneof(
  fc
    .uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 })
    .map((all) => all.toSorted((a, b) => a - b).map((percent) => ({ percent }))),
  fc.constant([{ count: 1 }, { tags: [{ id: 4 }] }, { agents: [{ id: 5 }, { id: 6 }] }]),
)
const policies: fc.Arbitrary<GivenPolicy> = fc.record({
  waves,
  bake: fc.nat(600),
  gates: fc.array(gates, { maxLength: 5 }),
  onFailure: fc.constantFrom('rollback' as const, 'pause' as const),
  onInconclusive: fc.constantFrom('continue' as const, 'pause' as const),
  banOnRollback: fc.boolean(),
})

/** The form drops the gate `restarts`: restarts are always watched. */
const withoutRestarts = ({ gates = [], ...rest }: GivenPolicy): GivenPolicy => ({
  ...rest,
  gates: gates.filter(({ name }) => name !== 'restarts'),
})

void t.test(
  'a policy is the same after it passes through the form, as given and as returned',
  (t) => {
    const owner = { errorKey: 'vclgroup', fqdns: [] } as const
    fc.assert(
      fc.property(policies, (given) => {
        const answered = completePolicy(given, owner)
        for (const policy of [given, answered])
          t.same(toPolicy(readPolicyFields(policy)), withoutRestarts(policy))
      }),
    )
    t.end()
  },
)

void t.test('a new form is valid, and the API judges anything that is not a number', (t) => {
  const owner = { errorKey: 'vclgroup', fqdns: [] } as const
  const fields = readPolicyFields(null)
  t.equal(completePolicy(toPolicy(fields), owner).bake, 60)
  const odd = toPolicy({
    ...fields,
    waves: [{ kind: 'percent', amount: 'half', ids: [] }],
    bake: '1,5',
    gates: [{ name: 'errors', texts: { max: 'x', for: '' } }],
  })
  t.match(odd, { waves: [{ percent: 'half' }], bake: 1.5, gates: [{ name: 'errors', max: 'x' }] })
  t.end()
})

void t.test('each limit of the API has an input', (t) => {
  const inputs = new Set(gateNames.flatMap((name) => listInputs(name).map(({ key }) => key)))
  const known = Object.keys(rolloutPolicy.gates.of.fields).filter((key) => key !== 'name')
  t.same([...inputs].toSorted(), known.toSorted())
  t.end()
})

void t.test('waves are described in a line', (t) => {
  const told = describeWaves([{ count: 1 }, { percent: 10 }, { tags: [] }, { agents: [] }])
  t.equal(told, '1 cache, 10 %, caches by tags, named caches, then the rest')
  t.end()
})

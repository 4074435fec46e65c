/** How a deploy proceeds, and the states of groups and deployments. */
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../../src/resources/agent-state.js'
import {
  graceMs,
  judgeLoads,
  type LoadsInput,
  type LoadState,
} from '../../../src/coordinator/deploying/load.js'
import { countUnswitched } from '../../../src/coordinator/deploying/switch.js'
import { deploymentStateName, worstState } from '../../../src/coordinator/fleet/deployment.js'
import { deploymentStates } from '../../../src/resources/deployment.js'
import {
  stateOfGroup,
  type GroupCondition,
  type PlacementState,
} from '../../../src/coordinator/fleet/vcl-group.js'

const loadStates = fc.constantFrom<LoadState>('pending', 'loaded', 'failed', 'away')
const loadsInputs: fc.Arbitrary<LoadsInput> = fc.record({
  deployments: fc.constant([
    { id: 1, min: 2 },
    { id: 2, min: 1 },
  ]),
  loads: fc.array(
    fc.record({
      agentId: fc.nat(),
      deploymentId: fc.integer({ min: 1, max: 2 }),
      state: loadStates,
    }),
    { maxLength: 8 },
  ),
  elapsedMs: fc.nat({ max: 100_000 }),
  waitMs: fc.constantFrom(0, 1000, 30_000, 60_000, 600_000),
})

const count = ({ loads }: LoadsInput, id: number, ...states: LoadState[]): number =>
  loads.filter((load) => load.deploymentId === id && states.includes(load.state)).length

const hasFailed = (judged: string): boolean => judged === 'uncompilable' || judged === 'unavailable'

void t.test(
  'no agent switches before every deployment has its min, and no deploy waits in vain',
  (t) => {
    const property = fc.property(loadsInputs, (input) => {
      const judged = judgeLoads(input)

      const enough = input.deployments.every(({ id, min }) => count(input, id, 'loaded') >= min)
      const possible = input.deployments.every(
        ({ id, min }) => count(input, id, 'loaded', 'pending') >= min,
      )
      if (judged === 'switch' && !enough) throw new Error('switched too early')
      if (hasFailed(judged) === possible) throw new Error('failed too early or too late')
      if (judged !== 'wait') return
      const pending = input.loads.some(({ state }) => state === 'pending')
      if (!pending) throw new Error('waits for nobody')
      if (enough && input.elapsedMs >= graceMs(input.waitMs)) throw new Error('over')
    })

    fc.assert(property, { numRuns: 3000 })
    t.end()
  },
)

void t.test('a report never turns a failed deploy back into a running one', (t) => {
  const property = fc.property(loadsInputs, fc.nat(), loadStates, (input, which, state) => {
    const before = judgeLoads(input)
    const at = which % Math.max(1, input.loads.length)
    fc.pre(input.loads[at]?.state === 'pending')
    const loads = input.loads.map((load, index) => (index === at ? { ...load, state } : load))

    const after = judgeLoads({ ...input, loads })

    if (hasFailed(before) && !hasFailed(after)) throw new Error('rose again')
  })

  fc.assert(property, { numRuns: 2000 })
  t.end()
})

function judge(states: readonly LoadState[], more: Partial<LoadsInput> = {}): unknown {
  const loads = states.map((state, at) => ({ agentId: at + 1, deploymentId: 1, state }))
  const deployments = [{ id: 1, min: 2 }]
  return judgeLoads({ deployments, loads, elapsedMs: 0, waitMs: 60_000, ...more })
}

void t.test(
  'a deploy with min loaded waits for pending loads until half of wait, at most 30 s',
  (t) => {
    t.same([0, 10_000, 60_000, 600_000].map(graceMs), [30_000, 5000, 30_000, 30_000])
    const loads: LoadState[] = ['loaded', 'loaded', 'pending']

    t.equal(judge(loads, { elapsedMs: 4999, waitMs: 10_000 }), 'wait')
    t.equal(judge(loads, { elapsedMs: 5000, waitMs: 10_000 }), 'switch')
    t.equal(judge(loads, { elapsedMs: 29_999, waitMs: 0 }), 'wait')
    t.equal(judge(loads, { elapsedMs: 30_000, waitMs: 0 }), 'switch')
    t.equal(judge(['loaded', 'loaded', 'failed']), 'switch')
    t.equal(judge(['loaded', 'pending'], { elapsedMs: 99_999 }), 'wait')
    t.end()
  },
)

void t.test('too few compiling agents are uncompilable, too few agents unavailable', (t) => {
  const table: readonly [LoadState[], string][] = [
    [['failed', 'pending'], 'uncompilable'],
    [['failed', 'loaded'], 'uncompilable'],
    [['away', 'loaded'], 'unavailable'],
    [['away', 'away', 'failed'], 'uncompilable'],
    [['loaded', 'away', 'failed'], 'unavailable'],
    [[], 'unavailable'],
  ]
  for (const [states, judged] of table) t.equal(judge(states), judged, states.join())
  t.end()
})

void t.test('a deploy answers when the wanted percent has applied or no more agents will', (t) => {
  type State = PlacementState | 'away'
  const places = (...states: State[]) => states.map((state) => ({ state }))
  const table: readonly [State[], number, boolean][] = [
    [['applied', 'applied'], 100, true],
    [['applied', 'applying'], 100, false],
    [['applied', 'applying'], 50, true],
    [['applied', 'wanted', 'wanted'], 34, false],
    [['wanted', 'applying'], 0, true],
    [['failed', 'applied'], 100, true],
    [['failed', 'wanted'], 100, false],
    [['applied', 'away'], 100, true],
    [['applying', 'away'], 100, false],
    [['away', 'away'], 100, false],
    [[], 100, true],
  ]
  for (const [states, percent, done] of table)
    t.equal(
      countUnswitched({ places: places(...states), percent }) === 0,
      done,
      `${states.join()} ${percent}`,
    )
  t.end()
})

const { Running, Failing, Down, Locked } = agentStates
const { Active, Inactive, Degraded, Error: Broken, Orphan, Deploying } = deploymentStates

function group(more: Partial<GroupCondition>): GroupCondition {
  const deployments = [{ id: 1, min: 1, anyAgentFits: true }]
  return { deployed: true, deploying: false, deployments, placements: [], ...more }
}

const on = (state: PlacementState, agentState: 1 | 2 | 3 | 5 = Running, deploymentId = 1) => ({
  deploymentId,
  state,
  agentState,
})

void t.test('the state of a group', (t) => {
  const two = [1, 2].map((id) => ({ id, min: 1, anyAgentFits: true }))
  const nobody = [{ id: 1, min: 1, anyAgentFits: false }]
  const table: readonly [string, Partial<GroupCondition>, number][] = [
    ['not deployed', { deployed: false }, Inactive],
    ['first deploy', { deployed: false, deploying: true }, Deploying],
    ['a later deploy', { deploying: true, placements: [on('applied')] }, Deploying],
    ['all applied', { placements: [on('applied'), on('applied')] }, Active],
    ['over min one failed', { placements: [on('applied'), on('failed')] }, Degraded],
    ['over min one Down', { placements: [on('applied'), on('applied', Down)] }, Degraded],
    ['over min one Failing', { placements: [on('applied'), on('applied', Failing)] }, Degraded],
    ['over min one Locked', { placements: [on('applied'), on('applied', Locked)] }, Degraded],
    ['the only one failed', { placements: [on('failed')] }, Broken],
    ['the only one is Down', { placements: [on('applied', Down)] }, Broken],
    ['nobody placed', {}, Broken],
    ['one deployment is short', { deployments: two, placements: [on('applied')] }, Broken],
    ['on its way', { placements: [on('applied'), on('applying')] }, Deploying],
    ['on its way to min', { placements: [on('wanted')] }, Deploying],
    ['nobody fits', { deployments: nobody }, Orphan],
    ['nobody fits any more', { deployments: nobody, placements: [on('applied')] }, Active],
    ['no deployments', { deployments: [] }, Orphan],
    ['of one deployment', { placements: [on('applied'), on('failed', Running, 2)] }, Active],
  ]
  for (const [what, more, state] of table) t.equal(stateOfGroup(group(more)), state, what)
  t.end()
})

void t.test('a shared deployment has the worst state of its groups', (t) => {
  t.equal(worstState([]), Inactive)
  t.equal(worstState([Active, Inactive]), Active)
  t.equal(worstState([Deploying, Active]), Deploying)
  t.equal(worstState([Active, Degraded, Deploying]), Degraded)
  t.equal(worstState([Orphan, Broken, Active]), Broken)
  t.equal(deploymentStateName(Orphan), 'Orphan')
  t.end()
})

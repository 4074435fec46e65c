/** How stages affect placement and the desired state of a cache: properties. */
import fc from 'fast-check'
import t from 'tap'
import { holderId, indexAgents } from '../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../src/resources/agent-state.js'
import { judgeStageLoads, type LoadState } from '../../src/coordinator/deploying/load.js'
import {
  composeDesired,
  composeNextRouting,
  composeRouting,
  type PlacedProgram,
  type PlacedPrograms,
} from '../../src/vcl/desired-engine.js'
import { placeGroup } from '../../src/coordinator/placement/placement.js'
import type { PlacementInput } from '../../src/coordinator/fleet/placement-input.js'
import { findStageConflicts, stageDeployment } from '../../src/coordinator/fleet/stage.js'
import { planVcl } from '../../src/vcl/plan.js'

const program = (name: string, fqdns: readonly string[] | null): PlacedProgram => ({
  name,
  fqdns,
  sha: name.padEnd(64, '0'),
})

/** Groups with domains and their stages on one agent, with names as unique as the database requires. */
const anyAgent: fc.Arbitrary<readonly PlacedPrograms[]> = fc
  .array(
    fc.record({
      group: fc.constantFrom('none', 'loading', 'serving', 'both'),
      stage: fc.constantFrom('none', 'loading', 'serving', 'both'),
      promoting: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .map((groups) =>
    groups.flatMap(({ group, stage, promoting }, index) => {
      const groupId = index + 1
      const place = (what: string, isStage: boolean): PlacedPrograms[] => {
        const kind = isStage ? 'stage' : 'own'
        const fqdns = [`${kind}.g${groupId}.example`]
        const named = (step: string) => program(`cf-${groupId}-${kind}-${step}`, fqdns)
        const isTaken = isStage && promoting && (what === 'serving' || what === 'both')
        const replacedBy = isTaken ? groupId : null
        return what === 'none'
          ? []
          : [
              {
                groupId,
                organizationId: null,
                stage: isStage,
                replacedBy,
                current: what === 'serving' || what === 'both' ? named('now') : null,
                candidate: what === 'loading' || what === 'both' ? named('next') : null,
                previous: null,
              },
            ]
      }
      return [...place(group, false), ...place(stage, true)]
    }),
  )

void t.test('a desired state with stages', async (t) => {
  await t.test('each stage has its own label, and no two labels share a VCL', (t) => {
    fc.assert(
      fc.property(anyAgent, (placed) => {
        const { desired } = composeDesired(placed)
        const wanted = placed.map(
          ({ groupId, stage }) => `cf-${stage === true ? 's' : 'l'}-${groupId}`,
        )
        t.strictSame(new Set(desired.labels.map(({ label }) => label)), new Set(wanted))
        const targets = desired.labels.map(({ program }) => program)
        return new Set(targets).size === targets.length
      }),
    )
    t.end()
  })
  await t.test('the order of places does not matter', (t) => {
    fc.assert(
      fc.property(anyAgent, (placed) => {
        t.strictSame(composeDesired(placed), composeDesired(placed.toReversed()))
      }),
    )
    t.end()
  })
  await t.test('the routing after the switch is preloaded, without the replaced stage', (t) => {
    fc.assert(
      fc.property(anyAgent, (placed) => {
        const { desired } = composeDesired(placed)
        const switched = placed
          .filter(({ replacedBy }) => replacedBy === null)
          .map((one) => ({ ...one, current: one.candidate ?? one.current, candidate: null }))
        const now = composeRouting(placed)
        const next = composeNextRouting(placed)
        t.equal(next?.name, composeRouting(switched)?.name)
        const loaded = desired.load.map(({ name }) => name)
        if (next && next.name !== now?.name) t.ok(loaded.includes(next.name))
        for (const { replacedBy, groupId } of placed)
          if (replacedBy !== null) t.notMatch(next?.text ?? '', `cf-s-${groupId})`)
        return now === null || loaded.includes(now.name)
      }),
    )
    t.end()
  })
  await t.test('a plan reaches it from an empty cache, and a second plan is empty', (t) => {
    fc.assert(
      fc.property(anyAgent, (placed) => {
        const { desired } = composeDesired(placed)
        const empty = { vcls: [], childRunning: true }
        const steps = planVcl({ desired, inventory: empty, managed: new Set() })
        const names = new Map<string, string | null>()
        let active: string | null = null
        for (const step of steps) {
          if (step.do === 'load') names.set(step.name, null)
          if (step.do === 'label') names.set(step.label, step.program)
          if (step.do === 'use') active = step.name
        }
        const vcls = [...names].map(([name, labelOf]) => ({
          name,
          labelOf,
          active: name === active,
        }))
        const inventory = { vcls, childRunning: true }
        t.strictSame(planVcl({ desired, inventory, managed: new Set(names.keys()) }), [])
      }),
    )
    t.end()
  })
  t.end()
})

const fleet = fc.array(
  fc.record({
    /** Places on the agent: of group 1, of its stage, of another root group. */
    own: fc.boolean(),
    staged: fc.boolean(),
    other: fc.boolean(),
    tagged: fc.boolean(),
    isRunning: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)
type Fleet = typeof fleet extends fc.Arbitrary<infer Value> ? Value : never

const groupId = 1
const stageId = holderId({ groupId, stage: true })

function inputFor(
  agents: Fleet,
  group: Pick<PlacementInput['group'], 'id' | 'apartFrom' | 'supersedes'>,
): PlacementInput {
  return {
    group: { ...group, root: true, deployments: [stageDeployment([1])] },
    placed: [],
    agents: indexAgents(
      agents.map(({ own, staged, other, tagged, isRunning }, id) => ({
        id,
        state: isRunning ? agentStates.Running : agentStates.Down,
        tagIds: tagged ? [1] : [],
        groupIds: [...(own ? [groupId] : []), ...(staged ? [stageId] : []), ...(other ? [2] : [])],
        // One of the groups placed there, as the store returns it.
        rootGroupId: own ? groupId : staged ? stageId : other ? 2 : null,
      })),
    ),
  }
}

void t.test('a root group and its stage', async (t) => {
  await t.test('a stage goes to all running agents with its tags, or conflicts are listed', (t) => {
    fc.assert(
      fc.property(fleet, (agents) => {
        const input = inputFor(agents, { id: stageId, apartFrom: groupId })
        const fitting = agents.flatMap((agent, id) =>
          agent.tagged && agent.isRunning ? [{ ...agent, id }] : [],
        )
        const blocked = fitting.filter(({ own, other }) => own || other).map(({ id }) => id)
        const conflicts = findStageConflicts(input)
        t.strictSame(conflicts.map(({ agentId }) => agentId).toSorted(), blocked.toSorted())
        const placed = placeGroup(input).add.map(({ agentId }) => agentId)
        t.strictSame(
          placed.toSorted(),
          fitting
            .map(({ id }) => id)
            .filter((id) => !blocked.includes(id))
            .toSorted(),
        )
      }),
    )
    t.end()
  })
  await t.test('they share no agent, except during a promotion', (t) => {
    fc.assert(
      fc.property(fleet, (agents) => {
        const add = (supersedes?: number) =>
          placeGroup(
            inputFor(agents, { id: groupId, ...(supersedes === undefined ? {} : { supersedes }) }),
          ).add.map(({ agentId }) => agents[agentId])
        t.notOk(add().some((agent) => agent?.staged === true))
        t.notOk(add(stageId).some((agent) => agent?.other === true && !agent.own))
        const free = agents.filter((one) => one.tagged && one.isRunning && !one.other && !one.own)
        t.equal(add(stageId).filter((one) => one?.own === false).length, free.length)
      }),
    )
    t.end()
  })
  t.end()
})

void t.test('a stage switches only when all present agents have loaded it', (t) => {
  const state = fc.constantFrom<LoadState>('pending', 'loaded', 'failed', 'away')
  fc.assert(
    fc.property(fc.array(state), (loads) => {
      const judged = judgeStageLoads(loads)
      const there = loads.filter((load) => load !== 'away')
      if (there.includes('failed')) return judged === 'uncompilable'
      if (there.length === 0) return judged === 'unavailable'
      return judged === (there.every((load) => load === 'loaded') ? 'switch' : 'wait')
    }),
  )
  t.end()
})

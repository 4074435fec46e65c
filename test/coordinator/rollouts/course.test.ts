/**
 * The course of a rollout, with the places that it moves: whatever the order of observations, at most the waves that were begun have the
 * new release, a verdict once reached is not lost, and the rollout ends.
 */
import fc from 'fast-check'
import t from 'tap'
import type { PlacementRecord } from '../../../src/coordinator/fleet/placement-queries.js'
import { programOf } from '../../../src/coordinator/fleet/vcl-group.js'
import { createPlacement, switchPlacement } from '../../../src/coordinator/placement/placing.js'
import { divideIntoWaves } from '../../../src/coordinator/rollouts/divide-waves.js'
import { findBelowMin, isServing } from '../../../src/coordinator/rollouts/find-below-min.js'
import { findProgress, addProgress } from '../../../src/coordinator/rollouts/find-progress.js'
import { goBack, joinNewcomers, switchWave } from '../../../src/coordinator/rollouts/move-places.js'
import {
  chooseStep,
  judgeVerb,
  type RolloutVerb,
} from '../../../src/coordinator/rollouts/next-step.js'
import { completePolicy } from '../../../src/coordinator/rollouts/policy.js'
import {
  moveOn,
  toCourse,
  type CourseStep,
} from '../../../src/coordinator/rollouts/rollout-course.js'
import type { RolloutRecord } from '../../../src/coordinator/fleet/rollout-queries.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { isEnded, rolloutStates, type WaveRule } from '../../../src/resources/rollout.js'
import { isSameProgram } from '../../../src/vcl/desired-engine.js'
import { makeRollout } from './made-rollout.js'

const group = { id: 7, organizationId: null }
const rules: fc.Arbitrary<WaveRule[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 })
  .map((counts) => counts.toSorted((a, b) => a - b).map((count) => ({ count })))

/** What may happen between two observations. */
const events = fc.oneof(
  fc.record({ do: fc.constant('report' as const), agent: fc.nat({ max: 11 }) }),
  fc.record({ do: fc.constant('flip' as const), agent: fc.nat({ max: 11 }) }),
  fc.record({ do: fc.constant('fail' as const), agent: fc.nat({ max: 11 }) }),
  fc.record({
    do: fc.constant('see' as const),
    verdict: fc.constantFrom<Look['verdict']>('pass', 'pass', 'fail', 'inconclusive'),
    baked: fc.nat({ max: 200 }),
    isLong: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('say' as const),
    verb: fc.constantFrom<RolloutVerb>('pause', 'resume', 'advance', 'abort'),
  }),
  fc.record({ do: fc.constant('restart' as const) }),
  fc.record({ do: fc.constant('join' as const) }),
)

interface World {
  rollout: RolloutRecord
  places: PlacementRecord[]
  readonly away: Set<number>
  /** Agents that ever had the new release. */
  readonly had: Set<number>
  readonly banned: number[]
  readonly min: number
}

void t.test(
  'every course ends; at most its begun waves have the new release, and min keeps serving',
  (t) => {
    const beginnings = fc.record({
      agents: fc.integer({ min: 1, max: 12 }),
      waves: rules,
      bake: fc.constantFrom(0, 10),
      onFailure: fc.constantFrom('rollback' as const, 'pause' as const),
      min: fc.nat({ max: 12 }),
    })
    const property = fc.property(
      beginnings,
      fc.array(events, { maxLength: 60 }),
      (beginning, happenings) => {
        const world = begin(beginning)
        let hasFailed = false
        for (const event of happenings) {
          happen(world, event)
          requireWaves(world)
          requireBake(world)
          if (event.do === 'see') requireMin(world)
          const { state } = world.rollout
          const isOver = state === rolloutStates.RollingBack || state >= rolloutStates.RolledBack
          if (hasFailed && !isOver) throw new Error('a verdict was lost')
          hasFailed ||= state === rolloutStates.RollingBack
        }
        settle(world)
        if (hasFailed && world.rollout.state === rolloutStates.Succeeded)
          throw new Error('it went back, and on')
        requireEnd(world)
      },
    )

    fc.assert(property, { numRuns: 700 })
    t.end()
  },
)

/** The rollout has ended or waits for a person; agents that had the new release are back, and were banned once. */
function requireEnd({ rollout: { state, sources }, places, had, banned }: World): void {
  if (!isEnded(state) && state !== rolloutStates.Paused) throw new Error(`it stays ${state}`)
  const isBack = state > rolloutStates.Succeeded
  const program = programOf(sources)
  if (isBack && places.some(({ current }) => isSameProgram(current, program)))
    throw new Error('not all are back')
  const toBan = isBack ? [...had] : []
  if (banned.toSorted().join() !== toBan.toSorted().join())
    throw new Error(`banned on ${banned.join()}, served on ${toBan.join()}`)
}

/** All agents return and report the desired state, and nothing is wrong: a running rollout comes to its end. */
function settle(world: World): void {
  world.away.clear()
  for (let round = 0; round < 60; round += 1) {
    for (const place of world.places) happen(world, { do: 'report', agent: place.agentId })
    happen(world, { do: 'see', verdict: 'pass', baked: 1000, isLong: false })
  }
}

interface Beginning {
  readonly agents: number
  readonly waves: readonly WaveRule[]
  readonly bake: number
  readonly onFailure: 'rollback' | 'pause'
  readonly min: number
}

function begin({ agents, waves, bake, onFailure, min: wanted }: Beginning): World {
  const min = Math.min(wanted, agents)
  const policy = completePolicy(
    { waves, bake, onFailure, banOnRollback: true },
    { errorKey: 'rollout', fqdns: [] },
  )
  const made = makeRollout({ groupId: 7, groupName: 'site', organizationId: null, policy })
  const ids = Array.from({ length: agents }, (_, at) => at)
  const planned = divideIntoWaves(
    policy.waves,
    7,
    ids.map((id) => ({ id, tagIds: [], isNew: false })),
  )
  const rollout = {
    ...made,
    id: 1,
    organization: null,
    epoch: 1,
    endedAt: null,
    reason: null,
    wave: 0,
    state: rolloutStates.Loading,
    waves: planned.map(({ agentIds, holds }) => ({
      agents: agentIds.map((id) => ({
        id,
        name: `edge-${id}`,
        state: 'waiting' as const,
        error: null,
      })),
      holds,
      startedAt: null,
      switchedAt: null,
      endedAt: null,
      verdict: null,
    })),
  }
  const places = ids.map((agentId): PlacementRecord => {
    const old = programOf(rollout.fromSources)
    const place = { group, agentId, deploymentId: 1, position: agentId, revision: 1, program: old }
    const serving = switchPlacement({ ...createPlacement(place), candidateState: 'loaded' }, 1)
    const candidate = programOf(rollout.sources)
    return { ...serving, state: 'applied', appliedRevision: 1, candidate, candidateState: 'loaded' }
  })
  const world = {
    rollout,
    places,
    away: new Set<number>(),
    had: new Set<number>(),
    banned: [],
    min,
  }
  take(world, { do: 'begin' })
  return world
}

function happen(
  world: World,
  event: typeof events extends fc.Arbitrary<infer E> ? E : never,
): void {
  switch (event.do) {
    case 'report':
      if (!world.away.has(event.agent)) change(world, event.agent, 'applied')
      return
    case 'fail':
      change(world, event.agent, 'failed')
      return
    case 'flip':
      if (!world.away.delete(event.agent)) world.away.add(event.agent)
      return
    case 'restart':
      // Another process reads what was written.
      world.rollout = JSON.parse(JSON.stringify(world.rollout)) as RolloutRecord
      return
    case 'join':
      join(world)
      return
    case 'say':
      say(world, event.verb)
      return
    case 'see':
      look(world, event)
  }
}

/** An agent that begins to fit serves the new release once the last wave has begun; before, it is not judged. */
function join(world: World): void {
  const { state, wave, waves, sources, revision } = world.rollout
  if (state >= rolloutStates.RollingBack || wave < waves.length) return
  const agentId = world.places.length + 100
  const place = { group, agentId, deploymentId: 1, position: agentId, revision }
  const made = createPlacement({ ...place, program: programOf(sources) })
  const serving = switchPlacement({ ...made, candidateState: 'loaded' }, revision)
  world.places = [...world.places, { ...serving, state: 'applied', appliedRevision: revision }]
  world.had.add(agentId)
}

/** Reports the result of the switch that the agent was to make. */
function change(world: World, agentId: number, state: 'applied' | 'failed'): void {
  world.places = world.places.map((place) => {
    if (place.agentId !== agentId) return place
    // It had to be loaded again.
    if (place.state === 'wanted' && place.candidateState === 'pending')
      return switchPlacement({ ...place, candidateState: 'loaded' }, place.wantedRevision)
    return place.state === 'applying'
      ? { ...place, state, appliedRevision: place.wantedRevision }
      : place
  })
}

function say(world: World, verb: RolloutVerb): void {
  const judged = judgeVerb(verb, toCourse(world.rollout))
  if (typeof judged === 'object') return
  const steps = {
    pause: { do: 'pause', verdict: null, reason: 'paused' },
    bakeAnew: { do: 'bakeAnew' },
    rollBack: { do: 'rollBack', reason: 'aborted', isAborted: true },
    next: { do: 'next', verdict: 'pass' },
    succeed: { do: 'succeed', verdict: 'pass' },
  } as const
  take(world, steps[judged])
}

interface Look {
  readonly verdict: 'pass' | 'fail' | 'inconclusive'
  readonly baked: number
  readonly isLong: boolean
}

function look(world: World, { verdict, baked, isLong }: Look): void {
  const progress = findProgress(world.rollout, byAgent(world.places))
  const written = new Map(
    world.rollout.waves.flatMap((wave) => wave.agents.map(({ id, state }) => [id, state])),
  )
  const agents = [...progress].map(([agentId, how]) => ({
    agentId,
    progress: how,
    isThere: !world.away.has(agentId),
    isNewlyBack: how === 'back' && written.get(agentId) === 'switching',
  }))
  const step = chooseStep(toCourse(world.rollout), {
    agents,
    verdict,
    why: null,
    bakedSeconds: baked,
    isReturnOverdue: isLong,
    belowMin: findShort(world),
  })
  if (step.do !== 'wait') take(world, step)
}

function take(world: World, step: CourseStep): void {
  if (step.do === 'ban') ban(world, step.agentIds)
  if (step.do === 'rollBack') world.rollout = joinNewcomers(world.rollout, nameAgents(world.places))
  world.rollout = moveOn(world.rollout, step, 1)
  const { wave, waves, revision } = world.rollout
  const merge = (changed: readonly PlacementRecord[]): void => {
    const byAgent = new Map(changed.map((place) => [place.agentId, place]))
    world.places = world.places.map((place) => byAgent.get(place.agentId) ?? place)
  }
  if (step.do === 'begin' || step.do === 'next') {
    const agentIds = new Set(waves[wave - 1]?.agents.map(({ id }) => id))
    merge(switchWave(world.places, { agentIds, revision, stateOf: () => agentStates.Running }))
  } else if (step.do === 'rollBack') merge(goBack(world.places, world.rollout).save)
  const program = programOf(world.rollout.sources)
  for (const { agentId, current } of world.places)
    if (isSameProgram(current, program)) world.had.add(agentId)
  world.rollout = addProgress(world.rollout, byAgent(world.places))
}

function nameAgents(places: readonly PlacementRecord[]) {
  return places.map((place) => ({ ...place, agentName: `edge-${place.agentId}` }))
}

function ban({ places, banned }: World, agentIds: readonly number[]): void {
  const known = byAgent(places)
  for (const agentId of agentIds)
    if (known.get(agentId)?.state === 'applying') throw new Error(`${agentId} is not back yet`)
  banned.push(...agentIds)
}

function byAgent(places: readonly PlacementRecord[]): Map<number, PlacementRecord> {
  return new Map(places.map((place) => [place.agentId, place]))
}

function findShort({ places, away, min }: World): string | null {
  return findBelowMin([{ id: 1, name: 'web', min }], places, (agentId) => !away.has(agentId))
}

/** A rollout leaves every cache serving, and does not continue where others are lost. */
function requireMin(world: World): void {
  const { state } = world.rollout
  const isGoingOn = state === rolloutStates.Switching || state === rolloutStates.Baking
  if (isGoingOn && findShort(world) !== null) throw new Error('it goes on below min')
  const idle = world.places.filter((place) => !isServing(place) && place.state !== 'failed')
  if (idle.length > 0) throw new Error(`agent ${idle[0]?.agentId ?? 0} serves nothing`)
}

/** Without a bake the next wave begins with the decision that the previous one has switched. */
function requireBake({ rollout: { state, policy, waves } }: World): void {
  if (policy.bake === 0 && state === rolloutStates.Baking) throw new Error('it bakes for nothing')
  const hasUntimed = waves.some(({ verdict, switchedAt, pausedAt }) =>
    verdict === 'pass' && pausedAt === undefined ? switchedAt === null : false,
  )
  if (hasUntimed) throw new Error('a wave has passed, and nobody knows when it had switched')
}

function requireWaves({ rollout, places }: World): void {
  const begun = new Set(
    rollout.waves.slice(0, rollout.wave).flatMap(({ agents }) => agents.map(({ id }) => id)),
  )
  const program = programOf(rollout.sources)
  const isLast = rollout.wave === rollout.waves.length
  for (const { agentId, current } of places)
    if (isSameProgram(current, program) && !begun.has(agentId) && !isLast)
      throw new Error(`agent ${agentId} has the new release before its wave`)
}

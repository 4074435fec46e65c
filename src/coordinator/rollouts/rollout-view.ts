/** Rollouts as the API returns them: the agents of a running rollout show the progress of their current placements. */
import {
  rollout,
  rolloutStateName,
  rolloutStates,
  type Rollout,
  type Wave,
} from '../../resources/rollout.js'
import { worstSeverity, type Problem } from '../../resources/problem.js'
import { groupBy } from '../../group-by.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toIso } from '../api/times.js'
import { readPlacements } from '../fleet/placement-queries.js'
import {
  rolloutColumns,
  selectRollouts,
  toRollout,
  type RolloutRecord,
  type RolloutRow,
} from '../fleet/rollout-queries.js'
import { findRolloutProblems } from '../problems/find-rollout-problems.js'
import { toProblems } from '../problems/make-problem.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { isHeldByFreeze } from './hold-frozen.js'
import { addProgress } from './find-progress.js'

export const rolloutSchema = answerSchema(rollout.fields)

/** Lists and events omit the agents of rollouts that have more than this. */
const maxListedAgents = 100

export const rolloutListing = {
  columns: rolloutColumns,
  computed: {
    fields: {
      stateName: { type: 'text' as const },
      severity: { type: 'number' as const },
      'problems.code': { type: 'nested' as const },
    },
    valuesOf: (listed: RolloutRecord, field: string) => {
      if (field === 'stateName') return [rolloutStateName(listed.state)]
      const problems = listProblems(listed)
      return field === 'severity' ? [worstSeverity(problems)] : problems.map(({ code }) => code)
    },
  },
  select: selectRollouts,
  read: async (service: StateService, rows: readonly RolloutRow[]) =>
    readProgressOf(service.store.queries, rows.map(toRollout)),
}

export async function viewRollout(
  service: StateService,
  found: RolloutRecord,
): Promise<RolloutRecord> {
  const [seen = found] = await readProgressOf(service.store.queries, [found])
  return seen
}

/** Uses one query for any number of rollouts. */
async function readProgressOf(
  queries: Queries,
  rollouts: readonly RolloutRecord[],
): Promise<readonly RolloutRecord[]> {
  const running = rollouts.filter(isUnderWay)
  if (running.length === 0) return rollouts
  const groupIds = [...new Set(running.map(({ groupId }) => groupId))]
  const places = groupBy(
    await readPlacements(queries, { groupIds, stage: false }),
    ({ groupId }) => groupId,
  )
  return rollouts.map((one) => {
    if (!isUnderWay(one)) return one
    const own = places.get(one.groupId) ?? []
    return addProgress(one, new Map(own.map((place) => [place.agentId, place])))
  })
}

function isUnderWay({ state }: RolloutRecord): boolean {
  return state > rolloutStates.Loading && state < rolloutStates.Succeeded
}

/** The current wave records when the rollout was paused. */
export function listProblems(found: RolloutRecord): readonly Problem[] {
  const { id, groupId, groupName, state, reason, wave, waves, startedAt } = found
  const findings = findRolloutProblems({
    id,
    state,
    reason,
    isHeld: isHeldByFreeze(found),
    pausedAt: waves[wave - 1]?.pausedAt ?? startedAt,
    group: { id: groupId, name: groupName },
  })
  return toProblems(findings, () => startedAt)
}

const makeAnswer = answerMaker(rollout.fields)

export function toRolloutView(found: RolloutRecord): Rollout {
  return makeAnswer(found, {
    vclGroup: { id: found.groupId, name: found.groupName },
    stateName: rolloutStateName(found.state),
    problems: listProblems(found),
    waves: found.waves.map(({ agents, startedAt, switchedAt, endedAt, verdict }) => ({
      agents: agents.map(({ id, name, state, error }) => ({ agent: { id, name }, state, error })),
      startedAt: toTime(startedAt),
      switchedAt: toTime(switchedAt),
      endedAt: toTime(endedAt),
      verdict,
    })),
    gates: found.gates.map((gate) => ({ ...gate, at: toIso(gate.at) })),
    policy: found.policy,
    bakedSeconds: Math.floor(found.bakedSeconds),
  })
}

export function toListedRollout(found: RolloutRecord): Rollout {
  const agents = found.waves.reduce((sum, wave) => sum + wave.agents.length, 0)
  const view = toRolloutView(found)
  if (agents <= maxListedAgents) return view
  return { ...view, waves: view.waves.map(withoutAgents) }
}

function withoutAgents({ startedAt, switchedAt, endedAt, verdict }: Wave): Wave {
  return { startedAt, switchedAt, endedAt, verdict }
}

function toTime(at: number | null): string | null {
  return at === null ? null : toIso(at)
}

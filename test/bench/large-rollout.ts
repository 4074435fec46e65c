/** A rollout on ten thousand agents while it bakes: half of them have switched, and all have reported observations. */
import type { Bus } from '../../src/coordinator/bus/bus.js'
import {
  insertRollout,
  readRunningRollouts,
  type RolloutRecord,
} from '../../src/coordinator/fleet/rollout-queries.js'
import {
  createObservations,
  type Observations,
} from '../../src/coordinator/rollouts/observations.js'
import { completePolicy } from '../../src/coordinator/rollouts/policy.js'
import type { Queries } from '../../src/coordinator/store/store.js'
import type { ObservedSpan, ObserveOrder } from '../../src/messages/observations.js'
import { agentStates } from '../../src/resources/agent-state.js'
import { rolloutStates, type GateName } from '../../src/resources/rollout.js'
import { firstByteSeries } from '../../src/traffic/figures.js'
import { makeRollout } from '../coordinator/rollouts/made-rollout.js'

const gates = ['errors', 'hitRatio', 'backendFailures', 'firstByte', 'backendsHealthy'] as const
/** As often as agents of a large fleet report, for two minutes. */
const spanSeconds = 5
const spans = 24

/** For the group that `fillFleet` made. */
export async function makeLargeRollout(
  queries: Queries,
): Promise<{ readonly rollout: RolloutRecord; readonly observations: Observations }> {
  const agents = await queries.selectFrom('agents').select(['id', 'name']).orderBy('id').execute()
  const { id: groupId } = await queries
    .selectFrom('vclGroups')
    .select('id')
    .executeTakeFirstOrThrow()
  const switched = agents.slice(0, agents.length / 2)
  const made = makeRollout({
    groupId,
    groupName: 'site',
    organizationId: null,
    state: rolloutStates.Baking,
    policy: completePolicy(
      {
        waves: [{ percent: 50 }],
        gates: gates.map((name: GateName) => ({ name })),
      },
      { errorKey: 'rollout', fqdns: [] },
    ),
    waves: [switched, agents.slice(agents.length / 2)].map((some) => ({
      agents: some.map((agent) => ({
        ...agent,
        state: some === switched ? 'switched' : 'waiting',
        error: null,
      })),
      holds: false,
      startedAt: null,
      switchedAt: 1,
      endedAt: null,
      verdict: null,
    })),
  })
  await insertRollout(queries, made)
  await queries.updateTable('agents').set({ state: agentStates.Running }).execute()
  const { programName: currentName, sha: currentSha } = made.sources
  await queries
    .updateTable('placements')
    .set({ currentName, currentSha })
    .where('agentId', '<=', switched.at(-1)?.id ?? 0)
    .execute()
  const [rollout] = await readRunningRollouts(queries)
  if (!rollout) throw new Error('it does not run')
  return { rollout, observations: observeAll(rollout) }
}

function observeAll(rollout: RolloutRecord): Observations {
  let session = ''
  let receive: (told: unknown) => void = () => undefined
  const bus: Pick<Bus, 'publish' | 'subscribe'> = {
    publish: (_, value) => {
      session = (value as unknown as { readonly order: ObserveOrder }).order.session // its message
    },
    subscribe: (_, heard) => {
      receive = heard as typeof receive
      return { close: () => undefined }
    },
  }
  const observations = createObservations(bus as Bus, () => Date.now())
  observations.observe([rollout])
  const { sources, fromSources, groupId: group } = rollout
  for (const [wave, { agents }] of rollout.waves.entries())
    for (const { id: agentId } of agents) {
      const told = Array.from({ length: spans }, (_, at) =>
        makeSpan(wave === 0 && at >= spans / 2 ? sources.programName : fromSources.programName, at),
      )
      receive({ group, session, agentId, isWhole: true, spans: told, probes: [] })
    }
  return observations
}

function makeSpan(program: string, at: number): ObservedSpan {
  return {
    program,
    ageMs: (spans - at) * spanSeconds * 1000,
    seconds: spanSeconds,
    figures: [500, 1, 400, 100, ...firstByteSeries.map(() => 25)],
    backendRequests: 100,
    backendFailures: 0,
    restarts: 0,
  }
}

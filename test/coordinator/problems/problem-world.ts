/** Generated conditions of everything that can have problems. */
import fc from 'fast-check'
import type { DriftRecord } from '../../../src/coordinator/fleet/agent-queries.js'
import { stateOfGroup, type PlacementState } from '../../../src/coordinator/fleet/vcl-group.js'
import type { JudgedAgent } from '../../../src/coordinator/problems/find-agent-problems.js'
import type {
  JudgedPlace,
  JudgedPlaces,
} from '../../../src/coordinator/problems/find-place-problems.js'
import type { Finding } from '../../../src/coordinator/problems/make-problem.js'
import {
  agentStates,
  catchingUp,
  engineStates,
  type AgentState,
} from '../../../src/resources/agent-state.js'

export const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)

const agentState = fc.constantFrom(...(Object.values(agentStates) as AgentState[]))
const text = fc.constantFrom(null, '', 'what the cache said', `first\n${'more '.repeat(500)}`)
const time = fc.integer({ min: nowMs - 1e9, max: nowMs })

const drift: fc.Arbitrary<DriftRecord> = fc.record({
  at: fc.oneof(
    time.map((at) => new Date(at).toISOString()),
    fc.constant('now'),
  ),
  foreign: fc.array(fc.constantFrom('boot', 'handmade'), { maxLength: 9 }),
  action: fc.constantFrom('', 'not healed yet: it is busy'),
  healedAt: fc.constantFrom(null, new Date(nowMs).toISOString()),
})

export const agents: fc.Arbitrary<JudgedAgent> = fc.record({
  name: fc.constantFrom('edge-1', 'edge-2'),
  state: agentState,
  engineState: fc.constantFrom(...engineStates),
  engineError: fc.oneof(text, fc.constant(catchingUp)),
  lockedBecause: text,
  lastStateChangeAt: time,
  drift: fc.option(drift),
  logTrouble: text,
  draining: fc.option(
    fc.record({
      since: time,
      until: fc.option(time),
      reason: fc.constant('kernel'),
      account: fc.constant('anna'),
    }),
  ),
})

const place: fc.Arbitrary<Omit<JudgedPlace, 'agentId' | 'agentName'>> = fc.record({
  agentState,
  agentSince: time,
  deploymentId: fc.integer({ min: 1, max: 3 }),
  state: fc.constantFrom<PlacementState>('wanted', 'applying', 'applied', 'failed'),
  error: text,
})

const deployments = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 2 }),
    name: fc.constantFrom(null, 'eu'),
    min: fc.integer({ min: 1, max: 3 }),
    anyAgentFits: fc.boolean(),
  }),
  { selector: ({ id }) => id },
)

/** With the state that follows from them. */
export const groups: fc.Arbitrary<JudgedPlaces> = fc
  .record({
    deployments,
    places: fc.array(place, { maxLength: 30 }),
    deployed: fc.boolean(),
    deploying: fc.boolean(),
    failedDeploy: fc.option(fc.record({ at: time, result: fc.constant('it does not compile') })),
  })
  .map(({ deployed, deploying, places, failedDeploy, ...group }) => {
    const named = places.map((one, at) => ({ ...one, agentId: at, agentName: `edge-${at}` }))
    const condition = { ...group, deployed, deploying, placements: named }
    return { ...group, state: stateOfGroup(condition), places: named, failedDeploy }
  })

/** What must hold for every finding. */
export function isComplete({ message, remedy, sinceMs }: Finding): boolean {
  const isLine = [message, remedy].every((one) => one.length > 10 && !one.includes('\n'))
  return isLine && message.length < 500 && (sinceMs === null || sinceMs <= nowMs)
}

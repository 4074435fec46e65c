/** Views of agents in the API. */
import { agent } from '../../resources/agent.js'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import { borneTag } from '../../resources/tag.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toIso, toSeconds } from '../api/times.js'
import { rememberOf } from '../../runtime/bounded-cache.js'
import { findAgentProblems } from '../problems/find-agent-problems.js'
import { toProblems } from '../problems/make-problem.js'
import type { AgentRecord } from './agents.js'
import { noDetails } from './unlock-agents.js'

export const agentSchema = answerSchema(agent.fields)

const makeAnswer = answerMaker(agent.fields)
const makeTagAnswer = answerMaker(borneTag)

/** `whole` is false for an organization that only shares the agent; fields that name other organizations' objects are omitted. */
export function toAgentView(
  record: AgentRecord,
  whole: boolean,
  { difference, adoptionDifference } = noDetails,
) {
  const isDown = record.state === agentStates.Down
  return makeAnswer(record, {
    stateName: agentStateName(record.state),
    engineState: isDown ? null : record.engineState,
    lastEngineState: isDown ? record.engineState : null,
    tags: record.tags.map((tag) => makeTagAnswer(tag, tag)),
    config: {
      desired: { revision: record.desiredRevision },
      lastAttempted: toAttemptView(whole ? record.attempted : null),
      effective: { revision: record.effectiveRevision },
      difference,
    },
    capabilities: record.capabilities,
    drift: whole ? record.drift : null,
    adoption: whole ? toAdoptionView(record, adoptionDifference) : null,
    draining: toDrainingView(record.draining, whole),
    problems: toProblems(findAgentProblems(record, whole), () => record.lastStateChangeAt),
  })
}

const wholeViewOf = rememberOf((record: AgentRecord) => toAgentView(record, true))
const sharedViewOf = rememberOf((record: AgentRecord) => toAgentView(record, false))

/** Made once of a record that the store recalls; answers that share it must not change it. */
export function recallAgentView(record: AgentRecord, whole: boolean) {
  return (whole ? wholeViewOf : sharedViewOf)(record)
}

function toAttemptView(attempted: AgentRecord['attempted']) {
  const { revision = null, result = null, error = null } = attempted ?? {}
  return { revision, result, error, at: attempted && toIso(attempted.at) }
}

function toDrainingView(drain: AgentRecord['draining'], whole: boolean) {
  if (!drain) return null
  const { since, until, reason, account } = drain
  return {
    since: toIso(since),
    until: until && toSeconds(until),
    reason,
    account: whole ? account : '',
  }
}

function toAdoptionView({ adoption }: AgentRecord, difference: string | null) {
  if (!adoption) return null
  const { at, result, error, group } = adoption
  return { at, result, error, group, difference }
}

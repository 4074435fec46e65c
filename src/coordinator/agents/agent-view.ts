/** What the API answers of agents. */
import { Type } from 'typebox'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import {
  idSchema,
  orNull,
  organizationSchema,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import type { AgentRecord } from './agents.js'
import type { AgentDetails } from './unlock-agents.js'
import { differenceSchema } from './unlock-views.js'
import { toTimes, toIso } from '../api/times.js'
import { tagFields } from '../tags/tag-view.js'

const closed = { additionalProperties: false }

const revisionSchema = Type.Object({ revision: orNull(Type.Integer()) }, closed)

export const agentSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    organization: organizationSchema,
    state: Type.Enum(Object.values(agentStates), {
      description: '1 Running, 2 Failing (agent up, cache not), 3 Down, 4 ReadOnly, 5 Locked',
    }),
    stateName: Type.String(),
    lockedBecause: orNull(Type.String()),
    engineState: orNull(
      Type.String({ description: 'running, stopped, unreachable or unknown; null: Down' }),
    ),
    lastEngineState: orNull(
      Type.String({ description: 'Of a Down agent: the engineState that it told last' }),
    ),
    engineError: orNull(Type.String()),
    engineHost: Type.String(),
    enginePort: Type.Integer(),
    engineVersion: Type.String(),
    agentVersion: Type.String(),
    tags: Type.Array(Type.Object(tagFields, closed)),
    config: Type.Object(
      {
        desired: revisionSchema,
        lastAttempted: Type.Object(
          {
            revision: orNull(Type.Integer()),
            result: orNull(Type.String({ description: 'applied, failed or refused' })),
            error: orNull(Type.String()),
            at: orNull(timeSchema),
          },
          closed,
        ),
        effective: revisionSchema,
        difference: differenceSchema,
      },
      closed,
    ),
    drift: orNull(
      Type.Object(
        {
          at: timeSchema,
          foreign: Type.Array(Type.String()),
          action: Type.String(),
          healedAt: orNull(timeSchema),
        },
        { ...closed, description: 'The last change from outside that was undone' },
      ),
    ),
    adoption: orNull(
      Type.Object(
        {
          at: timeSchema,
          result: Type.Enum(['adopted', 'refused']),
          error: orNull(
            Type.String({ description: 'Why it was refused, or is not in the --adopt-group' }),
          ),
          group: orNull(referenceSchema),
          difference: orNull(
            Type.String({
              description:
                'Of one agent alone: what it adopted against the --adopt-group, as unified text of at most 64 KiB',
            }),
          ),
        },
        { ...closed, description: 'What became of the VCL that the cache ran when the agent came' },
      ),
    ),
    lastHeartbeat: timeSchema,
    lastStateChange: timeSchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

/** In lists and events. */
const noDetails: AgentDetails = { difference: null, adoptionDifference: null }

/** `whole`: false for an organization that only shares the agent; what names other organizations' objects is left out. */
export function toAgentView(
  agent: AgentRecord,
  whole: boolean,
  { difference, adoptionDifference } = noDetails,
) {
  const isDown = agent.state === agentStates.Down
  return {
    id: agent.id,
    name: agent.name,
    organization: agent.organization,
    state: agent.state,
    stateName: agentStateName(agent.state),
    lockedBecause: agent.lockedBecause,
    engineState: isDown ? null : agent.engineState,
    lastEngineState: isDown ? agent.engineState : null,
    engineError: agent.engineError,
    engineHost: agent.engineHost,
    enginePort: agent.enginePort,
    engineVersion: agent.engineVersion,
    agentVersion: agent.agentVersion,
    tags: agent.tags.map(({ id, name, static: isStatic, ...times }) => ({
      id,
      name,
      static: isStatic,
      ...toTimes(times),
    })),
    config: {
      desired: { revision: agent.desiredRevision },
      lastAttempted: toAttemptView(whole ? agent.attempted : null),
      effective: { revision: agent.effectiveRevision },
      difference,
    },
    drift: whole ? agent.drift : null,
    adoption: whole ? toAdoptionView(agent, adoptionDifference) : null,
    lastHeartbeat: toIso(agent.lastHeartbeatAt),
    lastStateChange: toIso(agent.lastStateChangeAt),
    ...toTimes(agent),
  }
}

function toAttemptView(attempted: AgentRecord['attempted']) {
  const { revision = null, result = null, error = null } = attempted ?? {}
  return { revision, result, error, at: attempted && toIso(attempted.at) }
}

function toAdoptionView({ adoption }: AgentRecord, difference: string | null) {
  if (!adoption) return null
  const { at, result, error, group } = adoption
  return { at, result, error, group, difference }
}

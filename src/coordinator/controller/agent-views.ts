/** What the API answers of a single agent beside what lists and events have of it. */
import { Type } from 'typebox'
import type { AgentRecord } from '../state-service/agents/agents.js'
import type { AgentDetails } from '../state-service/agents/unlock-agents.js'
import { orNull } from './references.js'
import { agentSchema, toAgentView } from './views.js'

const closed = { additionalProperties: false }

const names = Type.Array(Type.String())
const differenceSchema = orNull(
  Type.Object(
    {
      use: orNull(Type.String({ description: 'The VCL that becomes active; null: none other' })),
      load: names,
      labels: Type.Array(Type.Object({ label: Type.String(), program: Type.String() }, closed)),
      discard: Type.Array(Type.String(), { description: 'Their sources are saved on the host' }),
      params: Type.Array(
        Type.Object(
          { name: Type.String(), value: orNull(Type.String({ description: 'null: default' })) },
          closed,
        ),
      ),
      backends: Type.Array(Type.Object({ name: Type.String(), health: Type.String() }, closed)),
      omitted: Type.Integer({ description: 'Entries beyond 100 a list' }),
    },
    {
      ...closed,
      description:
        'What an unlock would change on the cache; null: it is not locked, or its agent has not told yet what the cache holds',
    },
  ),
)

const { properties } = agentSchema
const [adoption] = properties.adoption.anyOf

export const wholeAgentSchema = Type.Object(
  {
    ...properties,
    config: Type.Object({ ...properties.config.properties, difference: differenceSchema }, closed),
    adoption: orNull(
      Type.Object(
        {
          ...adoption.properties,
          difference: orNull(
            Type.String({
              description:
                'Unified text of at most 64 KiB: what was adopted against the group that it was to join',
            }),
          ),
        },
        { ...closed, description: 'What became of the VCL that the cache ran when the agent came' },
      ),
    ),
  },
  closed,
)

export function toWholeAgentView(
  agent: AgentRecord,
  whole: boolean,
  { adoptionDifference, difference }: AgentDetails,
) {
  const view = toAgentView(agent, whole)
  return {
    ...view,
    config: { ...view.config, difference },
    adoption: view.adoption && { ...view.adoption, difference: adoptionDifference },
  }
}

/** Data of events: the objects in the form of the API. */
import { Type } from 'typebox'
import { openProblem, problem } from '../../resources/problem.js'
import type { EditedObject } from './compose-edited.js'
import type { EventViews } from './compose-events.js'
import type { DeploymentEvent } from './deployment-events.js'
import type { ListedInvalidation } from '../invalidations/invalidation-view.js'
import { apiLogSchema, toApiLogView } from '../api-log/api-log-routes.js'
import { listedInvalidationSchema, toListedView } from '../invalidations/result-views.js'
import {
  idSchema,
  organizationSchema,
  orNull,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import { answerSchema } from '../api/resource-schemas.js'
import { agentSchema, toAgentView } from '../agents/agent-view.js'
import { deploymentSchema, toDeploymentView } from '../deployments/deployment-view.js'
import { domainAnswers } from '../domains/domain-view.js'
import { fileSchema, toFileView } from '../files/file-view.js'
import { rolloutSchema, toListedRollout } from '../rollouts/rollout-view.js'
import { tagAnswers } from '../tags/tag-view.js'

const closed = { additionalProperties: false }
const stateSchema = {
  state: deploymentSchema.properties.state,
  stateName: Type.String(),
}

const groupSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    deployed: Type.Boolean(),
    revision: Type.Integer(),
    ...stateSchema,
    places: Type.Object(
      {
        wanted: Type.Integer(),
        applying: Type.Integer(),
        applied: Type.Integer(),
        failed: Type.Integer(),
      },
      { ...closed, description: 'How many agents of the group are how far' },
    ),
  },
  closed,
)

/** `agents` may be thousands and is summarized by `places`; problems have their own events. */
const unsaid = ['agents', 'problems'] as const
const deploymentEventSchema = Type.Object(
  {
    ...Type.Omit(deploymentSchema, unsaid).properties,
    vclgroup: orNull(groupSchema),
  },
  closed,
)

/** May be long. */
const longFields = ['expressions', 'urls', 'headers', 'target', 'warnings'] as const
/** Characters of JSON. */
const maxFieldLength = 4_000

const invalidationEventSchema = Type.Object(
  {
    ...listedInvalidationSchema.properties,
    ...Type.Partial(Type.Pick(listedInvalidationSchema, longFields)).properties,
  },
  { ...closed, description: `As in lists, without fields that are longer than ${maxFieldLength}` },
)

const editedObjectSchema = Type.Object(
  { id: idSchema, name: Type.String(), organization: organizationSchema },
  {
    ...closed,
    description:
      'event vclgroup: its fields, its stage or its history changed; event certificate: its fields, a deploy or its agents changed; ' +
      'event webhook: its fields changed, or it fails or no longer does; read it by its id; ' +
      'event backend: which backends of this VCL group are sick, or where, changed',
  },
)

const problemEventSchema = Type.Object(
  {
    object: answerSchema(openProblem.fields.object.fields),
    opened: Type.Array(answerSchema(problem.fields)),
    closed: Type.Array(answerSchema(problem.fields).properties.code),
  },
  { ...closed, description: 'event problem: what is wrong with an object, or no longer is' },
)

const deletedSchema = Type.Object(
  { id: idSchema, deleted: Type.Literal(true) },
  { ...closed, description: 'what was deleted; entries of the api log only age' },
)

const sampleSchema = Type.Object(
  {
    agent: referenceSchema,
    at: timeSchema,
    values: Type.Record(Type.String(), orNull(Type.Number()), {
      description: 'By counter: events per second, or a level; null: not known',
    }),
  },
  { ...closed, description: 'event sample: an agent that live names' },
)

const resetSchema = Type.Object(
  { reason: Type.String() },
  { ...closed, description: 'event reset: what was missed is not known any more' },
)

/** Schemas of `data` by event. */
export const eventDataSchema = Type.Union([
  agentSchema,
  deploymentEventSchema,
  invalidationEventSchema,
  apiLogSchema,
  fileSchema,
  editedObjectSchema,
  domainAnswers.answer,
  tagAnswers.answer,
  rolloutSchema,
  problemEventSchema,
  sampleSchema,
  deletedSchema,
  resetSchema,
])

export const eventViews: EventViews = {
  agent: toAgentView,
  deployment: toDeploymentEventView,
  invalidation: toInvalidationEventView,
  apiLog: toApiLogView,
  file: toFileView,
  vclgroup: toEditedView,
  certificate: toEditedView,
  backend: toEditedView,
  webhook: toEditedView,
  rollout: toListedRollout,
  domain: domainAnswers.toAnswer,
  tag: tagAnswers.toAnswer,
}

function toDeploymentEventView({ deployment, state, stateName, group }: DeploymentEvent) {
  const view = toDeploymentView({ record: deployment, state, stateName, problems: [], agents: [] })
  const fields = Object.entries(view).filter(([name]) => !unsaid.some((one) => one === name))
  return { ...Object.fromEntries(fields), vclgroup: group }
}

function toEditedView({ id, name, organization }: EditedObject) {
  return { id, name, organization }
}

/** Longer fields are read by id, because events are kept for an hour and sent to every subscriber. */
function toInvalidationEventView(listed: ListedInvalidation) {
  const fields = Object.entries(toListedView(listed))
  return Object.fromEntries(
    fields.filter(([, value]) => JSON.stringify(value).length <= maxFieldLength),
  )
}

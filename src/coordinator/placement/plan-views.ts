/** `POST /vclgroups/placement`: where groups would be placed, as they are to be; nothing is kept or changed. */
import { Type } from 'typebox'
import { foreseenPlaces } from '../../resources/vclgroup.js'
import { answerSchema } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import { planPlacement } from './placement-plan.js'
import type { StateService } from '../service.js'
import { idSchema, nameSchema, orNull, referencesMost, requireAccess } from '../api/references.js'

const errorKey = 'vclgroup'
const closed = { additionalProperties: false }

/** Chosen by us: as many as one folder of `cachefleet apply` may hold. */
const objectsMost = 1_000

const countSchema = Type.Integer({ minimum: 1, maximum: 1_000_000 })

const plannedDeploymentSchema = Type.Object(
  {
    id: Type.Optional(idSchema),
    name: nameSchema,
    min: countSchema,
    max: countSchema,
    tags: Type.Array(
      Type.Object({ id: Type.Optional(idSchema), name: Type.Optional(nameSchema) }, closed),
      {
        minItems: 1,
        maxItems: referencesMost,
        description: 'Without an id: to be made, nobody has it',
      },
    ),
  },
  { ...closed, description: 'As it is to be; without an id it is to be made' },
)

const plannedGroupSchema = Type.Object(
  {
    id: Type.Optional(idSchema),
    name: nameSchema,
    domains: Type.Array(Type.String(), { maxItems: referencesMost, description: 'Names, not ids' }),
    deployments: Type.Array(Type.String(), {
      maxItems: referencesMost,
      description: 'Names of the deployments beside',
    }),
    replace: Type.Optional(
      orNull(Type.Boolean({ description: 'Deployed with replace=true; false unless given' })),
    ),
  },
  { ...closed, description: 'As it is to be deployed; without an id it is to be made' },
)

/** Chosen by us: neither document has such a path; `cachefleet apply --plan` asks it. */
export function placementPlanRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/vclgroups/placement',
      operationId: 'planPlacement',
      summary:
        'Which agents groups would be placed on, deployed one after the other; nothing is kept or changed',
      errorKey,
      asksOnly: true,
      permission: { type: 'vclgroup', access: 'read' },
      body: Type.Object(
        {
          groups: Type.Array(plannedGroupSchema, { maxItems: objectsMost }),
          deployments: Type.Array(plannedDeploymentSchema, { maxItems: objectsMost }),
          undeployed: Type.Optional(
            orNull(
              Type.Array(Type.Object({ id: idSchema }, closed), {
                maxItems: objectsMost,
                description: 'Groups that leave their agents before',
              }),
            ),
          ),
        },
        closed,
      ),
      answers: { 200: Type.Object({ groups: Type.Array(answerSchema(foreseenPlaces)) }, closed) },
      handle: async ({ actor, body }) => {
        requireAccess(actor, 'deployment', 'read', errorKey)
        const groups = body.groups.map((group) => ({ ...group, replace: group.replace === true }))
        const plan = { ...body, groups, undeployed: body.undeployed ?? [] }
        return { status: 200, body: { groups: await planPlacement(service, actor, plan) } }
      },
    }),
  ]
}

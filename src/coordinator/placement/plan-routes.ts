/** `POST /vclgroups/placement`: where planned groups would be placed; nothing is stored or changed. */
import { Type } from 'typebox'
import { foreseenPlacements } from '../../resources/vclgroup.js'
import { answerSchema } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import { planPlacement } from './placement-plan.js'
import { planSchema } from './plan-schemas.js'
import type { StateService } from '../service.js'
import { requireAccess } from '../api/references.js'

const errorKey = 'vclgroup'
const closed = { additionalProperties: false }

/** Used by `cachefleet apply --plan`. */
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
      body: planSchema,
      answers: {
        200: Type.Object({ groups: Type.Array(answerSchema(foreseenPlacements)) }, closed),
      },
      handle: async ({ actor, body }) => {
        requireAccess(actor, 'deployment', 'read', errorKey)
        return { status: 200, body: { groups: await planPlacement(service, actor, body) } }
      },
    }),
  ]
}

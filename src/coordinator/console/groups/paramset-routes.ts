/** `/v1/group/{id}/paramset/{paramsetId}`: which parameters the caches of a group have in common. */
import type { Route } from '../../http/route.js'
import { giveParamSet, takeParamSet } from './group-paramset.js'
import type { StateService } from '../../service.js'
import { relationRoutes } from './relation-routes.js'

/** The set is looked up with the group's row locked. */
const anyParamSet = {
  kind: 'paramset',
  find: (_: unknown, id: number) => Promise.resolve(id),
} as const

export function groupParamSetRoutes(service: StateService): readonly Route[] {
  return relationRoutes(service, anyParamSet, {
    give: {
      operationId: 'addParamSetToGroup',
      summary: 'Sets the caches of the group to these parameters, instead of those that it has',
      run: ({ context, actor, object: group }, paramSetId) =>
        giveParamSet(service, { context, actor }, { group, paramSetId }),
    },
    take: {
      operationId: 'removeParamSetFromGroup',
      summary: 'Removes the parameters: what a cache does not have of its own is reset there',
      run: ({ context, object: group }, paramSetId) =>
        takeParamSet(service, context, { group, paramSetId }),
    },
  })
}

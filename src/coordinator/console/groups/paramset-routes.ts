/** `/v1/group/{id}/paramset/{paramsetId}`: which parameters the caches of a group have in common. */
import { parseObjectId } from '../../../resources/object-id.js'
import { FleetError } from '../../../errors.js'
import { route, type Route } from '../../http/route.js'
import { giveParamSet, takeParamSet } from './group-paramset.js'
import type { StateService } from '../../service.js'
import { groupById } from './group-routes.js'

const path = '/v1/group/{id}/paramset/{paramsetId}'
const permission = { console: 'write' } as const

export function groupParamSetRoutes(service: StateService): readonly Route[] {
  const byId = groupById(service)
  return [
    route({
      ...byId,
      method: 'PUT',
      path,
      operationId: 'addParamSetToGroup',
      summary: 'Sets the caches of the group to these parameters, instead of those that it has',
      permission,
      answers: { 204: null },
      handle: async ({ context, actor, object: group, params }) => {
        const paramSetId = requireParamSetId(params)
        await giveParamSet(service, { context, actor }, { group, paramSetId })
        return { status: 204 }
      },
    }),
    route({
      ...byId,
      method: 'DELETE',
      path,
      operationId: 'removeParamSetFromGroup',
      summary: 'Takes the parameters away: what a cache does not have of its own is reset there',
      permission,
      answers: { 204: null },
      handle: async ({ context, object: group, params }) => {
        await takeParamSet(service, context, { group, paramSetId: requireParamSetId(params) })
        return { status: 204 }
      },
    }),
  ]
}

function requireParamSetId({ paramsetId = '' }: Readonly<Record<string, string>>): number {
  const id = parseObjectId('paramset', paramsetId)
  if (id === undefined)
    throw new FleetError('not-found', 'paramset', `${paramsetId.slice(0, 100)} was not found`)
  return id
}

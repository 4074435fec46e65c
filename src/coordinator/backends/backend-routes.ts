/** `/backends`: the health of VCL groups' backends, as reported by the caches that serve them. */
import { Type } from 'typebox'
import { backend } from '../../resources/backend.js'
import { listQuerySchema } from '../api/references.js'
import { answerSchema } from '../api/resource-schemas.js'
import { answerList, route, type Route } from '../http/route.js'
import { scopeOf, type StateService } from '../service.js'
import { backendListFields, listBackends } from './backend-list.js'

export function backendRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: backend.path,
      operationId: 'listBackends',
      summary: 'Backends of VCL groups, and which agents see them sick; the worst first',
      errorKey: backend.noun,
      permission: { type: 'agent', access: 'read', alsoReads: 'vclgroup' },
      query: listQuerySchema(backendListFields),
      answers: { 200: Type.Array(answerSchema(backend.fields)) },
      handle: async ({ actor, query }) => {
        const { rows, total } = await listBackends(service.store.queries, scopeOf(actor), query)
        return answerList(rows, total)
      },
    }),
  ]
}

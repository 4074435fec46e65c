/** `/files/{id}/versions` and `/files/{id}/diff`: the versions of a file and their differences. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import { diffVersions, listVersions, readVersion, versionListFields } from './file-versions.js'
import { scopeOf, type StateService } from '../service.js'
import { findFile } from './file-queries.js'
import { listQuerySchema } from '../api/references.js'
import { toVersionView, versionSchema, wholeVersionSchema } from './file-view.js'

const errorKey = 'file'
const permission = { type: 'file', access: 'read' } as const
const closed = { additionalProperties: false }
const numberSchema = Type.Integer({ minimum: 1 })
const rangeSchema = Type.Object({ from: numberSchema, to: numberSchema }, closed)

export function fileVersionRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) =>
    findFile(service.store.queries, scopeOf(actor), id)
  return [
    route({
      method: 'GET',
      path: '/files/{id}/versions',
      operationId: 'listFileVersions',
      summary: 'Versions of a file, without their sources, oldest first',
      errorKey,
      permission,
      find,
      query: listQuerySchema(versionListFields),
      answers: { 200: Type.Array(versionSchema) },
      handle: async ({ object, query }) => {
        const { rows, total } = await listVersions(service, object, query)
        return answerList(rows.map(toVersionView), total)
      },
    }),
    route({
      method: 'GET',
      path: '/files/{id}/versions/{n}',
      operationId: 'getFileVersion',
      summary: 'One version with its source',
      errorKey,
      permission,
      find,
      answers: { 200: wholeVersionSchema },
      handle: async ({ object, params }) => {
        const version = await readVersion(service, object, params['n'] ?? '')
        return { status: 200, body: { ...toVersionView(version), source: version.source } }
      },
    }),
    route({
      method: 'GET',
      path: '/files/{id}/diff',
      operationId: 'diffFileVersions',
      summary: 'What changed between two versions, as unified text; empty when nothing did',
      errorKey,
      permission,
      find,
      query: rangeSchema,
      answers: {
        200: Type.Object({ ...rangeSchema.properties, diff: Type.String() }, closed),
      },
      handle: async ({ object, query }) => {
        const diff = await diffVersions(service, object, query)
        return { status: 200, body: { ...query, diff } }
      },
    }),
  ]
}

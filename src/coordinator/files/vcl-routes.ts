/** `/vcls`: the specification's shorthand for VCL files, main files unless said otherwise. */
import { Type } from 'typebox'
import { fileTypes } from '../../vcl/file.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import { createFile, fileListFields, listFiles } from './files.js'
import { fileEditing, ignoredFileKeys, newFileSchema } from './file-routes.js'
import { listQuerySchema } from '../api/references.js'
import { fileSchema, toFileView, toWholeFileView, wholeFileSchema } from './file-view.js'

const errorKey = 'file'

export function vclRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/vcls',
      operationId: 'listVcls',
      summary: 'VCL files, main files and includes, without their sources',
      errorKey,
      permission: { type: 'file', access: 'read' },
      query: listQuerySchema(fileListFields),
      answers: { 200: Type.Array(fileSchema) },
      handle: async ({ actor, query }) => {
        const found = await listFiles(service, actor, query, { vclOnly: true })
        return answerList(mapRows(found, toFileView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/vcls',
      operationId: 'createVcl',
      summary: 'Makes a main VCL file; an id in the request is ignored',
      errorKey,
      permission: { type: 'file', access: 'write' },
      edit: fileEditing(service),
      body: newFileSchema,
      ignoredKeys: ignoredFileKeys,
      answers: { 201: wholeFileSchema },
      handle: async ({ actor, body }) => {
        const wanted = { ...body, fileType: body.fileType ?? fileTypes.main }
        return { status: 201, body: toWholeFileView(await createFile(service, actor, wanted)) }
      },
    }),
  ]
}

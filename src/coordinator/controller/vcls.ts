/** `/vcls`: the specification's shorthand for VCL files, main files unless said otherwise. */
import { Type } from 'typebox'
import { fileTypes } from '../../domain/vcl-file.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { mapRows } from '../state-service/objects/long-list.js'
import { createFile, fileListFields, listFiles } from '../state-service/objects/vcl-files.js'
import { fileEditing, ignoredFileKeys, newFileSchema } from './files.js'
import { listQuerySchema } from './references.js'
import { fileSchema, toFileView, toWholeFileView, wholeFileSchema } from './views.js'

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

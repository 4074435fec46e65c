/** `/files`: VCL and other files with their versions; `/vcls`: the shorthand for VCL files. */
import { file, fileTypes } from '../../resources/file.js'
import { readOnlyNames } from '../../resources/resource.js'
import { editingOf, listRoute, resourceRoutes } from '../api/resource-routes.js'
import { createBody } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { fileColumns, findFile, selectFiles, toFile } from './file-queries.js'
import { fileSchema, toFileView, toWholeFileView, wholeFileSchema } from './file-view.js'
import { createFile, deleteFile, readWholeFile, updateFile } from './files.js'

const listing = {
  columns: fileColumns,
  select: selectFiles,
  read: (_: StateService, rows: readonly Parameters<typeof toFile>[0][]) => rows.map(toFile),
}

/** New content creates a new version, which identifies the edit. */
const editable = {
  resource: file,
  find: findFile,
  edited: { keys: ['version'], longKey: 'source' },
} as const

const listed = { listed: fileSchema, toListed: toFileView } as const

export function fileRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    ...editable,
    ...listed,
    title: 'File',
    summaries: {
      list: 'Files, without their sources',
      create: 'Creates a file with its first version',
      get: 'One file with the source of its current version',
      update:
        'Changes a file; new content creates the next version, what is deployed does not change',
      delete: 'Deletes a file with its versions; 409 while a VCL group refers to it',
    },
    listing,
    answer: wholeFileSchema,
    view: readWholeFile,
    toAnswer: toWholeFileView,
    create: createFile,
    update: (guarded, actor, { id }, change) => updateFile(guarded, actor, id, change),
    remove: deleteFile,
  })
}

const vclTypes = [fileTypes.main, fileTypes.include]

export function vclRoutes(service: StateService): readonly Route[] {
  return [
    listRoute(service, {
      ...listed,
      resource: { ...file, path: '/vcls' },
      title: 'Vcl',
      summaries: { list: 'VCL files, main files and includes, without their sources' },
      listing: {
        ...listing,
        select: (queries, scope) =>
          selectFiles(queries, scope).where('files.fileType', 'in', vclTypes),
      },
    }),
    route({
      method: 'POST',
      path: '/vcls',
      operationId: 'createVcl',
      summary: 'Creates a main VCL file; an id in the request is ignored',
      errorKey: 'file',
      permission: { type: 'file', access: 'write' },
      edit: editingOf(service, editable),
      body: createBody(file.fields),
      ignoredKeys: readOnlyNames(file.fields),
      answers: { 201: wholeFileSchema },
      handle: async ({ actor, body }) => {
        const wanted = { ...body, fileType: body.fileType ?? fileTypes.main }
        return { status: 201, body: toWholeFileView(await createFile(service, actor, wanted)) }
      },
    }),
  ]
}

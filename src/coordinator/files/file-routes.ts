/** `/files`: VCL and other files with their versions. The shorthand `/vcls` is in vcls.ts. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { fileTypes } from '../../vcl/file.js'
import { answerList, route, type Edit, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  createFile,
  deleteFile,
  fileListFields,
  findFile,
  listFiles,
  readWholeFile,
  updateFile,
  type FileRecord,
} from './files.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  managedBySchema,
  nameSchema,
  orNull,
  ownerReference,
  readOnlyKeys,
} from '../api/references.js'
import { fileSchema, toFileView, toWholeFileView, wholeFileSchema } from './file-view.js'

const errorKey = 'file'
const read = { type: 'file', access: 'read' } as const
const write = { type: 'file', access: 'write' } as const
const closed = { additionalProperties: false }

export const ignoredFileKeys = [...readOnlyKeys, 'sha', 'version']
const sourceSchema = Type.String({ description: 'VCL text, or base64 when encoded' })
const changeable = {
  managedBy: Type.Optional(managedBySchema),
  encoded: Type.Optional(orNull(Type.Boolean({ default: false }))),
  contentType: Type.Optional(orNull(Type.String({ maxLength: 512 }))),
  fileType: Type.Optional(
    orNull(
      Type.Enum(Object.values(fileTypes), {
        description:
          '1 main, 2 include, 3 other; unless given 1 when the text declares a VCL version, ' +
          '2 for other text, 3 for binary',
      }),
    ),
  ),
}
export const newFileSchema = Type.Object(
  { name: nameSchema, source: sourceSchema, ...changeable, organization: ownerReference },
  closed,
)

/** New content makes another version. */
export function fileEditing(service: StateService): Edit<FileRecord, StateService> {
  return editing(service, {
    keys: ['name', 'contentType', 'encoded', 'fileType', 'version', 'managedBy'],
    longKey: 'source',
    find: findFile,
    view: toFileView,
  })
}

export function fileRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findFile(service, actor, id)
  const edit = fileEditing(service)
  return [
    route({
      method: 'GET',
      path: '/files',
      operationId: 'listFiles',
      summary: 'Files, without their sources',
      errorKey,
      permission: read,
      query: listQuerySchema(fileListFields),
      answers: { 200: Type.Array(fileSchema) },
      handle: async ({ actor, query }) => {
        const found = await listFiles(service, actor, query, { vclOnly: false })
        return answerList(mapRows(found, toFileView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/files',
      operationId: 'createFile',
      summary: 'Makes a file with its first version',
      errorKey,
      permission: write,
      edit,
      body: newFileSchema,
      ignoredKeys: ignoredFileKeys,
      answers: { 201: wholeFileSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toWholeFileView(await createFile(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/files/{id}',
      operationId: 'getFile',
      summary: 'One file with the source of its current version',
      errorKey,
      permission: read,
      edit,
      find,
      answers: { 200: wholeFileSchema },
      handle: async ({ object }) => ({
        status: 200,
        body: toWholeFileView(await readWholeFile(service, object)),
      }),
    }),
    route({
      method: 'PUT',
      path: '/files/{id}',
      operationId: 'updateFile',
      summary: 'Changes a file; new content makes the next version, what is deployed stays',
      errorKey,
      permission: write,
      edit,
      find,
      body: Type.Object(
        { name: Type.Optional(nameSchema), source: Type.Optional(sourceSchema), ...changeable },
        closed,
      ),
      ignoredKeys: ignoredFileKeys,
      answers: { 200: wholeFileSchema },
      handle: async ({ actor, object, body, guarded }) => ({
        status: 200,
        body: toWholeFileView(await updateFile(guarded, actor, object.id, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/files/{id}',
      operationId: 'deleteFile',
      summary: 'Deletes a file with its versions; 409 while a VCL group refers to it',
      errorKey,
      permission: write,
      edit,
      find,
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteFile(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}

/** `/tags`: what an organization labels its agents with. */
import { Type } from 'typebox'
import { readOnlyNames } from '../../resources/resource.js'
import { tag } from '../../resources/tag.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  createTag,
  deleteTag,
  findChangeableTag,
  findTag,
  listTags,
  tagListFields,
  updateTag,
} from './tags.js'
import { editing } from '../api/editing.js'
import { listQuerySchema } from '../api/references.js'
import { createBody, editKeys, updateBody } from '../api/resource-schemas.js'
import { tagSchema, toTagView } from './tag-view.js'

const errorKey = 'tag'
const read = { type: 'tag', access: 'read' } as const
const write = { type: 'tag', access: 'write' } as const

export function tagRoutes(service: StateService): readonly Route[] {
  const edit = editing(service, { keys: editKeys(tag.fields), find: findTag, view: toTagView })
  return [
    route({
      method: 'GET',
      path: '/tags',
      operationId: 'listTags',
      summary: 'Tags that you may see',
      errorKey,
      permission: read,
      query: listQuerySchema(tagListFields),
      answers: { 200: Type.Array(tagSchema) },
      handle: async ({ actor, query }) => {
        const found = await listTags(service, actor, query)
        return answerList(mapRows(found, toTagView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/tags',
      operationId: 'createTag',
      summary: 'Makes a tag',
      errorKey,
      permission: write,
      edit,
      body: createBody(tag.fields),
      ignoredKeys: readOnlyNames(tag.fields),
      answers: { 201: tagSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toTagView(await createTag(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/tags/{id}',
      operationId: 'getTag',
      summary: 'One tag',
      errorKey,
      permission: read,
      edit,
      find: (_, actor, id) => findTag(service, actor, id),
      answers: { 200: tagSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toTagView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/tags/{id}',
      operationId: 'updateTag',
      summary: 'Changes a tag; another name is 409 while an agent sends it',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableTag(service, actor, id),
      body: updateBody(tag.fields),
      ignoredKeys: readOnlyNames(tag.fields),
      answers: { 200: tagSchema },
      handle: async ({ actor, object, body }) => ({
        status: 200,
        body: toTagView(await updateTag(service, actor, object, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/tags/{id}',
      operationId: 'deleteTag',
      summary: 'Deletes a tag; 409 while a deployment has it or an agent sends it',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableTag(service, actor, id),
      answers: { 204: null },
      handle: async ({ object }) => {
        await deleteTag(service, object)
        return { status: 204 }
      },
    }),
  ]
}

/** `/permissions`: what regular users may read and write. */
import { Type } from 'typebox'
import { permissionTypes } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  createPermission,
  deletePermission,
  findPermission,
  listPermissions,
  permissionListFields,
  updatePermission,
} from './permissions.js'
import { accountSchema, permissionSchema, toPermissionView } from './identity-views.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referenceTo,
  requireSame,
} from '../api/references.js'

const errorKey = 'permission'
const read = { type: 'perm', access: 'read' } as const
const write = { type: 'perm', access: 'write' } as const
const closed = { additionalProperties: false }
const accountReference = referenceTo(Object.keys(accountSchema.properties))
const typeSchema = Type.Enum([...permissionTypes])
const changeable = {
  read: Type.Optional(orNull(Type.Boolean({ default: true }))),
  write: Type.Optional(orNull(Type.Boolean({ default: false, description: 'implies read' }))),
}

export function permissionRoutes(service: StateService): readonly Route[] {
  const edit = editing(service, {
    keys: ['read', 'write'],
    find: findPermission,
    view: toPermissionView,
  })
  return [
    route({
      method: 'GET',
      path: '/permissions',
      operationId: 'listPermissions',
      summary: 'Permissions of users; administrators have all and need none',
      errorKey,
      permission: read,
      query: listQuerySchema(permissionListFields),
      answers: { 200: Type.Array(permissionSchema) },
      handle: async ({ actor, query }) => {
        const found = await listPermissions(service, actor, query)
        return answerList(mapRows(found, toPermissionView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/permissions',
      operationId: 'createPermission',
      summary: 'Lets a user read, or read and write, objects of a type; acts within 5 s',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        {
          account: accountReference,
          type: typeSchema,
          ...changeable,
          organization: ownerReference,
        },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 201: permissionSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toPermissionView(await createPermission(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/permissions/{id}',
      operationId: 'getPermission',
      summary: 'One permission',
      errorKey,
      permission: read,
      edit,
      find: (_, actor, id) => findPermission(service, actor, id),
      answers: { 200: permissionSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toPermissionView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/permissions/{id}',
      operationId: 'updatePermission',
      summary: 'Changes whether a permission is to write; acts within 5 s',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findPermission(service, actor, id),
      body: Type.Object(
        {
          account: Type.Optional(accountReference),
          type: Type.Optional(typeSchema),
          ...changeable,
        },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 200: permissionSchema },
      handle: async ({ actor, object, body, guarded }) => {
        requireSame('account', body.account?.id, object.account.id, errorKey)
        requireSame('type', body.type, object.type, errorKey)
        return {
          status: 200,
          body: toPermissionView(await updatePermission(guarded, actor, object, body)),
        }
      },
    }),
    route({
      method: 'DELETE',
      path: '/permissions/{id}',
      operationId: 'deletePermission',
      summary: 'Takes a permission back; acts within 5 s',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findPermission(service, actor, id),
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deletePermission(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}

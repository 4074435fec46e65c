/** `/permissions`: what regular users may read and write. */
import { permission } from '../../resources/user-permission.js'
import { crudRoutes } from '../api/noun-routes.js'
import { createBody, updateBody } from '../api/resource-schemas.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { permissionSchema, toPermissionView } from './identity-views.js'
import { permissionReading } from './permission-queries.js'
import { createPermission, deletePermission, updatePermission } from './permissions.js'

export function permissionRoutes(service: StateService): readonly Route[] {
  return crudRoutes({
    service,
    resource: permission,
    named: 'Permission',
    reading: permissionReading,
    schema: permissionSchema,
    view: toPermissionView,
    list: 'Permissions of users; administrators have all and need none',
    get: 'One permission',
    create: {
      summary: 'Lets a user read, or read and write, objects of a type; acts within 5 s',
      body: createBody(permission.fields),
      run: (actor, body) => createPermission(service, actor, body),
    },
    update: {
      summary: 'Changes whether a permission is to write; acts within 5 s',
      body: updateBody(permission.fields),
      run: updatePermission,
    },
    remove: {
      summary: 'Takes a permission back; acts within 5 s',
      run: deletePermission,
    },
  })
}

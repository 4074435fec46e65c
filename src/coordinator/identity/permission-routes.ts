/** `/permissions`: what regular users may read and write. */
import { permission } from '../../resources/user-permission.js'
import { answeredAs, resourceRoutes } from '../api/resource-routes.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { permissionReading, type PermissionRecord } from './permission-queries.js'
import { createPermission, deletePermission, updatePermission } from './permissions.js'

export function permissionRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    ...permissionReading,
    ...answeredAs<typeof permission.fields, PermissionRecord>(permission.fields, () => ({
      read: true,
    })),
    resource: permission,
    title: 'Permission',
    summaries: {
      list: 'Permissions of users; administrators have all and need none',
      create: 'Lets a user read, or read and write, objects of a type; acts within 5 s',
      get: 'One permission',
      update: 'Changes whether a permission is to write; acts within 5 s',
      delete: 'Revokes a permission; effective within 5 s',
    },
    skipsAccessCheck: true,
    create: createPermission,
    update: updatePermission,
    remove: deletePermission,
  })
}

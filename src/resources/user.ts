/** Users: accounts in an organization, each with a role there. */
import { account } from './account.js'
import { id, times } from './common-fields.js'
import { organization } from './organization.js'
import { organizationRoles } from './permission.js'
import type { Answer, Resource } from './resource.js'

export const user = {
  noun: 'user',
  permission: 'account',
  path: '/users',
  nameField: 'account.name',
  columns: ['id', 'account', 'organization', 'role', 'created'],
  fields: {
    id,
    account: {
      kind: 'reference',
      to: account,
      write: { required: true, fixed: true, summary: 'by id or name' },
    },
    organization: { kind: 'reference', to: organization },
    role: {
      kind: 'words',
      of: organizationRoles,
      write: {
        nullable: true,
        summary: 'administrator or regular; the first user of an organization is its administrator',
      },
    },
    ...times,
  },
} as const satisfies Resource

export type User = Answer<typeof user.fields>

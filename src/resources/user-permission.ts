/** Permissions of a user, one type each. */
import { account } from './account.js'
import { id, times } from './common-fields.js'
import { organization } from './organization.js'
import { permissionTypes } from './permission.js'
import type { Answer, Resource } from './resource.js'

export const permission = {
  noun: 'permission',
  permission: 'perm',
  path: '/permissions',
  nameField: null,
  columns: ['id', 'account', 'organization', 'type', 'read', 'write'],
  fields: {
    id,
    account: {
      kind: 'reference',
      to: account,
      write: {
        required: true,
        fixed: true,
        summary: 'a user of the organization, by id or name',
      },
    },
    organization: { kind: 'reference', to: organization },
    type: {
      kind: 'words',
      of: permissionTypes,
      write: {
        required: true,
        fixed: true,
        summary: 'vclgroup, deployment, file, domain, tag, agent, …',
      },
    },
    read: {
      kind: 'flag',
      computed: true,
      write: { nullable: true, default: true, summary: 'true unless given' },
    },
    write: {
      kind: 'flag',
      description: 'implies read',
      write: { nullable: true, default: false, summary: 'implies read; false unless given' },
    },
    ...times,
  },
} as const satisfies Resource

export type UserPermission = Answer<typeof permission.fields>

/** Accounts that may log in. Passwords are write-only, so they are not fields. */
import { id, nameRules, times } from './common-fields.js'
import { organization } from './organization.js'
import type { Answer, Resource } from './resource.js'

export const account = {
  noun: 'account',
  permission: 'account',
  path: '/accounts',
  nameField: 'name',
  columns: ['id', 'name', 'email', 'locked', 'organizations', 'created'],
  fields: {
    id,
    name: {
      kind: 'name',
      description: `${nameRules}; unique in the whole store`,
      write: { required: true, summary: 'unique in the whole store' },
    },
    email: {
      kind: 'text',
      description: 'empty: none',
      write: { nullable: true, default: '', summary: 'empty: none' },
    },
    locked: {
      kind: 'flag',
      write: { nullable: true, default: false, summary: 'it cannot log in, its tokens stop' },
    },
    systemAdministrator: { kind: 'flag', description: 'belongs to no organization and may all' },
    organizations: {
      kind: 'references',
      to: organization,
      fields: { id, name: { kind: 'text' } },
      computed: true,
      description: 'of which it is a user',
      write: {
        nullable: true,
        summary: 'of which it is a user, by id or name; for the system administrator',
      },
    },
    ...times,
  },
} as const satisfies Resource

export type Account = Answer<typeof account.fields>

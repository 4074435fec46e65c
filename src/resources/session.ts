/** Sessions: active logins, and API tokens, which are sessions with a label and a subset of their creator's rights. */
import { account } from './account.js'
import { id, organization } from './common-fields.js'
import { organizationRoles, permissionTypes } from './permission.js'
import type { Answer, Fields, Resource } from './resource.js'

/** Permissions without an account: of the caller, or of an API token. */
const grants = {
  kind: 'list',
  of: {
    kind: 'object',
    fields: {
      type: { kind: 'words', of: permissionTypes },
      read: { kind: 'flag' },
      write: { kind: 'flag' },
    },
  },
} as const

const moment = { kind: 'moment', description: 'seconds since 1970' } as const

export const session = {
  noun: 'session',
  permission: 'session',
  path: '/sessions',
  nameField: 'label',
  columns: ['id', 'account', 'organization', 'label', 'permissions', 'created', 'lastUsed'],
  fields: {
    id,
    account: { kind: 'reference', to: account },
    organization,
    label: { kind: 'text', description: 'empty: a login' },
    permissions: {
      ...grants,
      nullable: true,
      computed: true,
      description: 'of an API token, the most it may; null: a login',
    },
    created: { kind: 'time', column: 'createdAt' },
    lastUsed: { kind: 'time', column: 'lastUsedAt', title: 'last used' },
    accessExpire: { ...moment, column: 'accessExpiresAt' },
    refreshExpire: { ...moment, nullable: true, computed: true },
  },
} as const satisfies Resource

export type Session = Answer<typeof session.fields>

/** Returned only once, by the create. */
export const apiToken = {
  id,
  label: { kind: 'text' },
  accessToken: { kind: 'text' },
  accessExpire: moment,
} as const satisfies Fields

export type ApiToken = Answer<typeof apiToken>

/** The logged-in account and its permissions. */
export const whoami = {
  account: { kind: 'reference' },
  organization: { kind: 'reference', nullable: true },
  role: { kind: 'words', of: ['system', ...organizationRoles] },
  permissions: grants,
  session: { kind: 'object', fields: { id } },
} as const satisfies Fields

export type Whoami = Answer<typeof whoami>

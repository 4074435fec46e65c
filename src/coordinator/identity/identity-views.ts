/** What the API answers of organizations, accounts, users, permissions and sessions. */
import { Type, type TInteger, type TOptional } from 'typebox'
import { organizationRoles, permissionTypes, toPermissions } from '../../resources/permission.js'
import {
  defaultQuotas,
  describeQuota,
  findQuotaMost,
  quotaNames,
  type QuotaName,
} from '../../resources/quota.js'
import type { AccountRecord } from './accounts.js'
import type { OrganizationRecord } from './organizations.js'
import type { PermissionRecord } from './permissions.js'
import type { ListedSession } from './sessions.js'
import type { UserRecord } from './users.js'
import { idSchema, orNull, referenceSchema, timeSchema } from '../api/references.js'
import { toIso, toTimes } from '../api/times.js'

const closed = { additionalProperties: false }
const times = { created: timeSchema, updated: timeSchema }
export const expirySchema = Type.Integer({ description: 'seconds since 1970' })

export const quotasSchema = Type.Object(
  Object.fromEntries(
    quotaNames.map((name) => [
      name,
      Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: findQuotaMost(name),
          default: defaultQuotas[name],
          description: describeQuota(name),
        }),
      ),
    ]),
  ) as Record<QuotaName, TOptional<TInteger>>,
  {
    ...closed,
    description:
      'how much it may have; written by the system administrator, as a whole. Left out: the default; null: all defaults',
  },
)

export const wholeOrganizationSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    accessTTL: Type.Integer({ description: 'lifetime of its access tokens, seconds' }),
    refreshTTL: Type.Integer({ description: 'lifetime of its refresh tokens, seconds' }),
    locked: Type.Boolean({ description: 'nobody logs in to it, and its tokens are worth nothing' }),
    quotas: orNull(quotasSchema),
    ...times,
  },
  closed,
)

export function toOrganizationView(organization: OrganizationRecord) {
  return {
    id: organization.id,
    name: organization.name,
    accessTTL: organization.accessTtlSeconds,
    refreshTTL: organization.refreshTtlSeconds,
    locked: organization.locked,
    quotas: organization.quotas,
    ...toTimes(organization),
  }
}

export const accountSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String({ description: 'unique in the whole store' }),
    email: Type.String(),
    locked: Type.Boolean(),
    systemAdministrator: Type.Boolean({ description: 'belongs to no organization and may all' }),
    organizations: Type.Array(referenceSchema, { description: 'of which it is a user' }),
    ...times,
  },
  closed,
)

export function toAccountView(account: AccountRecord) {
  return {
    id: account.id,
    name: account.name,
    email: account.email,
    locked: account.locked,
    systemAdministrator: account.systemAdministrator,
    organizations: account.organizations,
    ...toTimes(account),
  }
}

export const userSchema = Type.Object(
  {
    id: idSchema,
    account: referenceSchema,
    organization: referenceSchema,
    role: Type.Enum([...organizationRoles]),
    ...times,
  },
  closed,
)

export function toUserView(user: UserRecord) {
  const { id, account, organization, role } = user
  return { id, account, organization, role, ...toTimes(user) }
}

export const permissionSchema = Type.Object(
  {
    id: idSchema,
    account: referenceSchema,
    organization: referenceSchema,
    type: Type.Enum([...permissionTypes]),
    read: Type.Boolean(),
    write: Type.Boolean({ description: 'implies read' }),
    ...times,
  },
  closed,
)

export function toPermissionView(permission: PermissionRecord) {
  const { id, account, organization, type, write } = permission
  return { id, account, organization, type, read: true, write, ...toTimes(permission) }
}

/** Without an account: of whoever reads it, or what an API token is made for. */
export const grantSchema = Type.Object(
  { type: Type.Enum([...permissionTypes]), read: Type.Boolean(), write: Type.Boolean() },
  closed,
)

export const sessionSchema = Type.Object(
  {
    id: idSchema,
    account: referenceSchema,
    organization: orNull(referenceSchema),
    label: Type.String({ description: 'empty: a login' }),
    permissions: orNull(
      Type.Array(grantSchema, { description: 'of an API token, the most it may; null: a login' }),
    ),
    created: timeSchema,
    lastUsed: timeSchema,
    accessExpire: expirySchema,
    refreshExpire: orNull(expirySchema),
  },
  closed,
)

export function toSessionView(session: ListedSession) {
  const { refreshExpiresAt, limits } = session
  return {
    id: session.id,
    account: { id: session.accountId, name: session.accountName },
    organization: session.organization,
    label: session.label,
    permissions: limits && toPermissions(limits),
    created: toIso(session.createdAt),
    lastUsed: toIso(session.lastUsedAt),
    accessExpire: Math.floor(session.accessExpiresAt / 1000),
    refreshExpire: refreshExpiresAt === 0 ? null : Math.floor(refreshExpiresAt / 1000),
  }
}

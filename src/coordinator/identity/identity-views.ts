/** What the API answers of organizations, accounts, users, permissions and sessions. */
import { account } from '../../resources/account.js'
import { idp } from '../../resources/idp.js'
import { organization } from '../../resources/organization.js'
import { toPermissions } from '../../resources/permission.js'
import { session } from '../../resources/session.js'
import { user } from '../../resources/user.js'
import { permission } from '../../resources/user-permission.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toSeconds } from '../api/times.js'
import type { AccountRecord } from './account-queries.js'
import type { IdpRecord } from './idp-queries.js'
import type { OrganizationRecord } from './organization-queries.js'
import type { PermissionRecord } from './permission-queries.js'
import type { ListedSession } from './session-queries.js'
import type { UserRecord } from './user-queries.js'

export const wholeOrganizationSchema = answerSchema(organization.fields)
export const accountSchema = answerSchema(account.fields)
export const userSchema = answerSchema(user.fields)
export const permissionSchema = answerSchema(permission.fields)
export const sessionSchema = answerSchema(session.fields)
export const idpSchema = answerSchema(idp.fields)

const answerOrganization = answerMaker(organization.fields)
const answerAccount = answerMaker(account.fields)
const answerUser = answerMaker(user.fields)
const answerPermission = answerMaker(permission.fields)
const answerSession = answerMaker(session.fields)
const answerIdp = answerMaker(idp.fields)

export function toOrganizationView(record: OrganizationRecord) {
  return answerOrganization(record, {})
}

export function toAccountView(record: AccountRecord) {
  return answerAccount(record, record)
}

export function toUserView(record: UserRecord) {
  return answerUser(record, {})
}

export function toPermissionView(record: PermissionRecord) {
  return answerPermission(record, { read: true })
}

export function toIdpView(record: IdpRecord) {
  return answerIdp(record, {})
}

export function toSessionView(record: ListedSession) {
  const { limits, refreshExpiresAt } = record
  return answerSession(record, {
    permissions: limits && toPermissions(limits),
    refreshExpire: refreshExpiresAt === 0 ? null : toSeconds(refreshExpiresAt),
  })
}

/**
 * Maps a user of an identity provider to an account, by provider and subject and never by name
 * (docs/behaviour.md, Identity providers).
 */
import { isAdministrator, isSameGrants, type Rights } from '../../resources/permission.js'
import { chooseAccountNames, readEmail, readRights } from './provider-claims.js'
import { FleetError } from '../../errors.js'
import { findAccountByName, findLoginAccount, insertAccount } from './account-queries.js'
import { findSubjectAccount, insertSubject, type Subject } from './idp-logins.js'
import { findOrganization } from './organization-queries.js'
import { replacePermissions } from './permission-queries.js'
import type { Queries } from '../store/store.js'
import { findRights, hasOtherAdministrator, updateRole, type Membership } from './user-queries.js'
import { isUniqueViolation } from '../store/violation.js'
import type { StateService } from '../service.js'
import { addMember } from './membership.js'
import type { ProvenIdentity, Provider } from './provider-client.js'
import { notifyCredentialsChanged, unauthenticated } from './sessions.js'

/** Attempts to create an account while concurrent calls take its name. */
const attempts = 5

/**
 * Creates the account at the first login. With a role claim, every login updates role and permissions from the provider.
 * Throws FleetError 'unauthenticated' if the account may not log in; the message does not give the reason.
 */
export async function admitIdentity(
  service: StateService,
  provider: Provider,
  proven: ProvenIdentity,
): Promise<Membership> {
  for (let attempt = 1; ; attempt++)
    try {
      const { membership, changed } = await service.store.decide((queries) =>
        admit(queries, { provider, proven, now: service.now() }),
      )
      if (changed) notifyCredentialsChanged(service)
      return membership
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === attempts) throw error
    }
}

interface Admission {
  readonly provider: Provider
  readonly proven: ProvenIdentity
  readonly now: number
}

/** Call under the decision lock. */
async function admit(
  queries: Queries,
  admission: Admission,
): Promise<{ readonly membership: Membership; readonly changed: boolean }> {
  const { provider, proven, now } = admission
  const organizationId = provider.organization.id
  const subject = { organizationId, issuer: proven.issuer, subject: proven.subject }
  const known = await findSubjectAccount(queries, subject)
  const accountId = known ?? (await makeAccount(queries, subject, admission))
  const membership = { organizationId, accountId }
  const rights = await requireEntry(queries, membership)
  if (provider.roleClaim === '') return { membership, changed: false }
  const wanted = readRights(proven.claims, provider.roleClaim)
  return { membership, changed: await follow(queries, membership, { rights, wanted, now }) }
}

/** Throws FleetError 'unauthenticated'. A removed user can log in only after an administrator has added it again. */
export async function requireEntry(
  queries: Queries,
  membership: Membership,
): Promise<Rights & { readonly userId: number }> {
  const { organizationId, accountId } = membership
  const organization = await findOrganization(queries, organizationId)
  const account = await findLoginAccount(queries, accountId)
  const rights = await findRights(queries, membership)
  if (rights && account?.locked === false && organization?.locked === false) return rights
  throw unauthenticated('this account may not log in to the organization')
}

async function makeAccount(
  queries: Queries,
  subject: Subject,
  { provider, proven, now }: Admission,
): Promise<number> {
  const { organization } = provider
  const id = await insertAccount(queries, {
    name: await findFreeName(queries, proven, organization.name),
    passwordHash: '',
    email: readEmail(proven.claims),
    systemAdministrator: false,
    organizationId: organization.id,
    createdAt: now,
  })
  const joining = { actor: null, role: 'regular', now, errorKey: 'auth' } as const
  await addMember(queries, { id, systemAdministrator: false }, organization.id, joining)
  await insertSubject(queries, subject, id)
  return id
}

async function findFreeName(
  queries: Queries,
  { claims, subject }: ProvenIdentity,
  organization: string,
): Promise<string> {
  for (const name of chooseAccountNames(claims, subject, organization))
    if (!(await findAccountByName(queries, name))) return name
  throw new FleetError('conflict', 'auth', 'too many accounts have this name; rename some of them')
}

/** Returns whether anything changed. The last administrator keeps its role (docs/behaviour.md, Accounts). */
async function follow(
  queries: Queries,
  membership: Membership,
  change: {
    readonly rights: Rights & { readonly userId: number }
    readonly wanted: Rights
    readonly now: number
  },
): Promise<boolean> {
  const { rights, wanted, now } = change
  const isLast =
    isAdministrator(rights) &&
    !isAdministrator(wanted) &&
    !(await hasOtherAdministrator(queries, membership))
  const role = isLast ? rights.role : wanted.role
  if (role === rights.role && isSameGrants(rights.grants, wanted.grants)) return false
  await updateRole(queries, rights.userId, role, now)
  await replacePermissions(queries, membership, wanted.grants, now)
  return true
}

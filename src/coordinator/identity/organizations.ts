/** Organizations: the system administrator manages them, other callers read their own (docs/behaviour.md, Organizations). */
import { parseOrganizationName } from '../../resources/names.js'
import { organization } from '../../resources/organization.js'
import type { Actor } from '../../resources/permission.js'
import type { GivenQuotas } from '../../resources/quota.js'
import type { Written } from '../../resources/resource.js'
import { FleetError } from '../../errors.js'
import { accountReading, type AccountRecord } from './account-queries.js'
import { countOwned, organizationReading, type OrganizationRecord } from './organization-queries.js'
import { isSame, mergeWritten, toRow } from '../store/resource-rows.js'
import type { Queries } from '../store/store.js'
import { isForeignKeyViolation } from '../store/violation.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import { placementInputsSubject } from '../bus/subjects.js'
import { referencesNotFound, withUniqueName } from '../api/find-references.js'
import type { GivenBody, UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import type { Frozen } from '../../resources/freeze.js'
import { isAdministratorOf, parseFreeze, type FreezeRecord } from './freeze.js'
import { addMember, removeMember } from './membership.js'
import { notifyCredentialsChanged } from './sessions.js'

export async function createOrganization(
  service: StateService,
  actor: Actor,
  wanted: GivenBody<typeof organization.fields>,
): Promise<OrganizationRecord> {
  requireSystemAdministrator(actor)
  const { store, now } = service
  const fields = merge(wanted)
  const frozen = mergeFreeze(wanted.frozen, null, now())
  const row = { ...toRow(organization.fields, fields), frozen }
  const id = await withUniqueName(fields.name, 'organization', () =>
    insertRow(store.queries, 'organizations', row, now()),
  )
  return organizationReading.readAgain(service, actor, id)
}

/** A lock makes its sessions invalid within 5 s. New token lifetimes apply from the next login or refresh. */
export async function updateOrganization(
  service: StateService,
  actor: Actor,
  before: OrganizationRecord,
  change: UpdateBody<typeof organization.fields>,
): Promise<OrganizationRecord> {
  const { store, now } = service
  const fields = merge(change, before)
  if (actor.role !== 'system' && !isSame(fields, before)) requireSystemAdministrator(actor)
  const frozen = mergeFreeze(change.frozen, before.frozen, now())
  const row = { ...toRow(organization.fields, fields), frozen, updatedAt: now() }
  await withUniqueName(fields.name, 'organization', () =>
    store.transaction((queries) => updateRow(queries, 'organizations', before.id, row)),
  )
  notifyCredentialsChanged(service)
  // Pending deploys proceed when a freeze is lifted.
  if (frozen !== before.frozen) service.bus.publish(placementInputsSubject, {})
  return organizationReading.readAgain(service, actor, before.id)
}

/** Also deletes its users, sessions and tokens, but not the accounts. Throws 'conflict' while it owns anything else. */
export async function deleteOrganization(
  service: StateService,
  { id }: OrganizationRecord,
  actor: Actor,
): Promise<void> {
  requireSystemAdministrator(actor)
  const { queries } = service.store
  const refuse = async (): Promise<void> => {
    const owned = await countOwned(queries, id)
    if (owned.length === 0) return
    const things = owned.map(({ table, count }) => `${count} ${table.toLowerCase()}`).join(', ')
    throw new FleetError('conflict', 'organization', `it still has ${things}; delete them first`)
  }
  await refuse()
  try {
    await service.store.transaction((inside) => deleteRow(inside, 'organizations', id))
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    await refuse()
    throw new FleetError('conflict', 'organization', 'it still has objects; delete them first')
  }
  notifyCredentialsChanged(service)
}

/** The organization's first account becomes its administrator, later ones are regular. Assigning a user again changes nothing. */
export async function assignAccount(
  service: StateService,
  actor: Actor,
  { id }: OrganizationRecord,
  wanted: { readonly id: number },
): Promise<OrganizationRecord> {
  await service.store.decide(async (queries) => {
    const account = await requireAccount(queries, actor, wanted)
    const joining = { actor, now: service.now(), errorKey: 'organization' } as const
    await addMember(queries, account, id, joining)
  })
  return organizationReading.readAgain(service, actor, id)
}

/** Throws 'conflict' for the last administrator. Does nothing if the account is not a user. */
export async function unassignAccount(
  service: StateService,
  actor: Actor,
  { id }: OrganizationRecord,
  wanted: { readonly id: number },
): Promise<OrganizationRecord> {
  await service.store.decide(async (queries) => {
    const account = await requireAccount(queries, actor, wanted)
    const membership = { organizationId: id, accountId: account.id }
    await removeMember(queries, membership, 'organization')
  })
  notifyCredentialsChanged(service)
  return organizationReading.readAgain(service, actor, id)
}

async function requireAccount(
  queries: Queries,
  actor: Actor,
  { id }: { readonly id: number },
): Promise<AccountRecord> {
  const account = await accountReading.find(queries, scopeOf(actor), id)
  if (!account) throw referencesNotFound('account', [id], 'organization')
  return account
}

/** An omitted key keeps the freeze. Throws 'invalid' for a time in the past. */
function mergeFreeze(
  wanted: Frozen | null | undefined,
  before: string | null,
  nowMs: number,
): string | null {
  if (wanted === undefined) return before
  if (wanted === null) return null
  const { until, reason } = wanted
  const present = parseFreeze(before, nowMs)
  if (present?.until === until && present.reason === reason) return before
  if (until * 1000 <= nowMs)
    throw new FleetError(
      'invalid',
      'organization',
      `frozen.until: ${until} is over; it is seconds since 1970 and must be in the future`,
    )
  return JSON.stringify({ until, reason, since: present?.since ?? nowMs } satisfies FreezeRecord)
}

/** Throws 'forbidden' unless the caller is an administrator of the organization or the system administrator. */
export function requireAdministrator(actor: Actor, { id }: OrganizationRecord): void {
  if (!isAdministratorOf(actor, id)) requireSystemAdministrator(actor)
}

/** Throws 'forbidden' if the caller belongs to an organization. */
export function requireSystemAdministrator({ organizationId }: Actor): void {
  if (organizationId !== null)
    throw new FleetError(
      'forbidden',
      'organization',
      'only the system administrator makes and changes organizations',
    )
}

type OrganizationFields = Written<typeof organization.fields>

/** Without `before` the organization is new. */
function merge(change: object, before?: OrganizationFields): OrganizationFields {
  const { quotas, ...fields } = mergeWritten(organization, change, before)
  if (fields.name !== before?.name) parseOrganizationName(fields.name)
  if (fields.refreshTtlSeconds < fields.accessTtlSeconds)
    throw new FleetError(
      'invalid',
      'organization',
      `refreshTTL is ${fields.refreshTtlSeconds} s; it must be at least accessTTL (${fields.accessTtlSeconds} s)`,
    )
  return { ...fields, quotas: keepGiven(quotas) }
}

function keepGiven(quotas: GivenQuotas | null): GivenQuotas | null {
  return quotas === null || Object.keys(quotas).length === 0 ? null : quotas
}

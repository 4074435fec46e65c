/** Organizations: made, locked and given accounts by the system administrator; others read their own (choices: 2, Who). */
import { parseListQuery } from '../../resources/list-query.js'
import { parseOrganizationName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import type { GivenQuotas } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import { findAccount } from './account-queries.js'
import { organizationColumns } from '../fleet/list-columns.js'
import {
  countOwned,
  deleteOrganization as deleteOrganizationRow,
  findOrganization as findOrganizationRow,
  fromRow,
  insertOrganization,
  selectOrganizations,
  updateOrganization as updateOrganizationRow,
  type OrganizationFields,
  type OrganizationRecord,
} from './organization-queries.js'
import { isForeignKeyViolation } from '../store/violation.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { notThere, withUniqueName } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { addMember, removeMember } from './membership.js'
import { tellCredentialsChanged } from './sessions.js'

export type { OrganizationRecord } from './organization-queries.js'

/** choices: 2, Tokens. Seconds. */
const defaultAccessTtl = 600
const defaultRefreshTtl = 3600

export const organizationListFields = Object.keys(organizationColumns)

export async function listOrganizations(
  { store }: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<OrganizationRecord>> {
  const list = parseListQuery(query, organizationColumns, 'organization')
  const organizations = selectOrganizations(store.queries, scopeOf(actor))
  return readLongList(organizations, list, organizationColumns, (rows) => rows.map(fromRow))
}

export async function findOrganization(
  { store }: StateService,
  actor: Actor,
  id: number,
): Promise<OrganizationRecord | undefined> {
  return findOrganizationRow(store.queries, scopeOf(actor), id)
}

/** Throws 'forbidden' for whoever is of an organization. */
export async function findChangeableOrganization(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<OrganizationRecord | undefined> {
  const organization = await findOrganization(service, actor, id)
  if (organization) requireSystemAdministrator(actor)
  return organization
}

/** Null: back to the default; left out: as it is, or the default of a new one. */
interface OrganizationChange {
  readonly name?: string
  readonly accessTTL?: number | null
  readonly refreshTTL?: number | null
  readonly locked?: boolean | null
  /** As a whole: of what it leaves out the default counts. */
  readonly quotas?: GivenQuotas | null
}

export async function createOrganization(
  service: StateService,
  actor: Actor,
  wanted: OrganizationChange & { readonly name: string },
): Promise<OrganizationRecord> {
  requireSystemAdministrator(actor)
  const fields = merge(wanted, {
    name: parseOrganizationName(wanted.name),
    accessTtlSeconds: defaultAccessTtl,
    refreshTtlSeconds: defaultRefreshTtl,
    locked: false,
    quotas: null,
  })
  const id = await withUniqueName(fields.name, 'organization', () =>
    insertOrganization(service.store.queries, fields, service.now()),
  )
  return readAgain(service, actor, id)
}

/** What lives of its sessions ends within 5 s when it is locked; lifetimes count from the next login or refresh. */
export async function updateOrganization(
  service: StateService,
  actor: Actor,
  organization: OrganizationRecord,
  change: OrganizationChange,
): Promise<OrganizationRecord> {
  const fields = merge(change, organization)
  await withUniqueName(fields.name, 'organization', () =>
    service.store.transaction((queries) =>
      updateOrganizationRow(queries, organization.id, fields, service.now()),
    ),
  )
  tellCredentialsChanged(service)
  return readAgain(service, actor, organization.id)
}

/** With its users, sessions and tokens; the accounts stay. Throws 'conflict' while it owns anything else. */
export async function deleteOrganization(
  service: StateService,
  organization: OrganizationRecord,
): Promise<void> {
  const { queries } = service.store
  const refuse = async (): Promise<void> => {
    const owned = await countOwned(queries, organization.id)
    if (owned.length === 0) return
    const things = owned.map(({ table, count }) => `${count} ${table.toLowerCase()}`).join(', ')
    throw new FleetError('conflict', 'organization', `it still has ${things}; delete them first`)
  }
  await refuse()
  try {
    await service.store.transaction((inside) => deleteOrganizationRow(inside, organization.id))
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    await refuse()
    throw new FleetError('conflict', 'organization', 'it still has objects; delete them first')
  }
  tellCredentialsChanged(service)
}

/** The first account of an organization becomes its administrator, later ones are regular. Again changes nothing. */
export async function assignAccount(
  service: StateService,
  actor: Actor,
  organization: OrganizationRecord,
  account: { readonly id: number },
): Promise<OrganizationRecord> {
  await service.store.decide(async (queries) => {
    const found = await findAccount(queries, scopeOf(actor), account.id)
    if (!found) throw notThere('account', [account.id], 'organization')
    await addMember(queries, found, organization.id, {
      actor,
      now: service.now(),
      errorKey: 'organization',
    })
  })
  return readAgain(service, actor, organization.id)
}

/** Throws 'conflict' for the last administrator. One that is no user changes nothing. */
export async function unassignAccount(
  service: StateService,
  actor: Actor,
  organization: OrganizationRecord,
  account: { readonly id: number },
): Promise<OrganizationRecord> {
  await service.store.decide(async (queries) => {
    const found = await findAccount(queries, scopeOf(actor), account.id)
    if (!found) throw notThere('account', [account.id], 'organization')
    const membership = { organizationId: organization.id, accountId: account.id }
    await removeMember(queries, membership, 'organization')
  })
  tellCredentialsChanged(service)
  return readAgain(service, actor, organization.id)
}

function requireSystemAdministrator({ organizationId }: Actor): void {
  if (organizationId !== null)
    throw new FleetError(
      'forbidden',
      'organization',
      'only the system administrator makes and changes organizations',
    )
}

function merge(change: OrganizationChange, before: OrganizationFields): OrganizationFields {
  const { name, accessTTL, refreshTTL, locked, quotas } = change
  const accessTtlSeconds = accessTTL === undefined ? before.accessTtlSeconds : accessTTL
  const refreshTtlSeconds = refreshTTL === undefined ? before.refreshTtlSeconds : refreshTTL
  const fields = {
    name: name === undefined || name === before.name ? before.name : parseOrganizationName(name),
    accessTtlSeconds: accessTtlSeconds ?? defaultAccessTtl,
    refreshTtlSeconds: refreshTtlSeconds ?? defaultRefreshTtl,
    locked: locked === undefined ? before.locked : (locked ?? false),
    quotas: quotas === undefined ? before.quotas : keepGiven(quotas),
  }
  if (fields.refreshTtlSeconds < fields.accessTtlSeconds)
    throw new FleetError(
      'invalid',
      'organization',
      `refreshTTL is ${fields.refreshTtlSeconds} s; at least accessTTL (${fields.accessTtlSeconds} s) is right`,
    )
  return fields
}

async function readAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<OrganizationRecord> {
  const organization = await findOrganization(service, actor, id)
  if (!organization) throw new FleetError('not-found', 'organization', `${id} was not found`)
  return organization
}

function keepGiven(quotas: GivenQuotas | null): GivenQuotas | null {
  return quotas === null || Object.keys(quotas).length === 0 ? null : quotas
}

/** Identity providers: where an organization's users may log in instead of here. The client secret is sealed by the caller. */
import type { ListColumns } from '../store/list-query.js'
import type { NamedReference } from '../store/owner.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface IdpFields {
  readonly baseUrl: string
  readonly clientId: string
  /** Null: a client without one. */
  readonly sealedClientSecret: string | null
  readonly scopes: readonly string[]
  /** Empty: nothing is mapped. */
  readonly roleClaim: string
}

export interface IdpRecord extends IdpFields {
  readonly id: number
  readonly organization: NamedReference
  readonly createdAt: number
  readonly updatedAt: number
}

export const idpColumns = {
  id: { column: 'idps.id', type: 'number' },
  'organization.id': { column: 'organizations.id', type: 'number' },
  'organization.name': { column: 'organizations.name', type: 'text' },
  baseURL: { column: 'idps.baseUrl', type: 'text' },
  clientID: { column: 'idps.clientId', type: 'text' },
  roleClaim: { column: 'idps.roleClaim', type: 'text' },
  created: { column: 'idps.createdAt', type: 'time' },
  updated: { column: 'idps.updatedAt', type: 'time' },
} satisfies ListColumns

export function selectIdps(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('idps')
    .innerJoin('organizations', 'organizations.id', 'idps.organizationId')
    .selectAll('idps')
    .select('organizations.name as organizationName')
    .where(within(scope, 'idps'))
}

type IdpRow = Awaited<ReturnType<ReturnType<typeof selectIdps>['executeTakeFirstOrThrow']>>

export function fromRow({ organizationId, organizationName, scopes, ...row }: IdpRow): IdpRecord {
  return {
    ...row,
    organization: { id: organizationId, name: organizationName },
    scopes: JSON.parse(scopes) as string[], // written by toColumns only
  }
}

export async function findIdp(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<IdpRecord | undefined> {
  const row = await selectIdps(queries, scope).where('idps.id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Whoever asks: a login knows no more than the organization's name. Undefined also while the organization is locked. */
export async function findIdpOfOrganization(
  queries: Queries,
  organizationName: string,
): Promise<IdpRecord | undefined> {
  const row = await selectIdps(queries, { kind: 'all' })
    .where('organizations.name', '=', organizationName)
    .where('organizations.locked', '=', 0)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Answers the new provider's id. */
export async function insertIdp(
  queries: Queries,
  organizationId: number,
  fields: IdpFields,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('idps')
    .values({ organizationId, ...toColumns(fields), createdAt: now, updatedAt: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateIdp(
  queries: Queries,
  id: number,
  fields: IdpFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('idps')
    .set({ ...toColumns(fields), updatedAt: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteIdp(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('idps').where('id', '=', id).execute()
}

function toColumns({ baseUrl, clientId, sealedClientSecret, scopes, roleClaim }: IdpFields) {
  return { baseUrl, clientId, sealedClientSecret, scopes: JSON.stringify(scopes), roleClaim }
}

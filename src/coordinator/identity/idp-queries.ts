/** Queries of identity providers, where an organization's users may log in. The caller seals the client secret. */
import { idp } from '../../resources/idp.js'
import type { Written } from '../../resources/resource.js'
import { readingOf } from '../api/noun-reading.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

interface SealedSecret {
  /** Null: the client has no secret. */
  readonly sealedClientSecret: string | null
}

export type IdpFields = Written<typeof idp.fields> & SealedSecret
export type IdpRecord = StoredRecord<typeof idp.fields> & SealedSecret

export function selectIdps(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('idps')
    .innerJoin('organizations', 'organizations.id', 'idps.organizationId')
    .selectAll('idps')
    .select('organizations.name as organizationName')
    .where(within(scope, 'idps'))
}

const idpColumns = listColumns(idp.fields, 'idps')
const readStored = rowReader(idp.fields)

function fromRow(row: SealedSecret): IdpRecord {
  return { ...readStored(row), sealedClientSecret: row.sealedClientSecret }
}

export const idpReading = readingOf({
  noun: 'idp',
  select: selectIdps,
  columnsFor: () => idpColumns,
  toRecords: (rows) => rows.map(fromRow),
})

/** No visibility filter: a login has only the organization's name. Undefined also while the organization is locked. */
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

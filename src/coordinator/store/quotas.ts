/**
 * Enforces organizations' quotas when rows are inserted. The count follows the insert, in its transaction and under a lock
 * on the organization's row, so that concurrent inserts are counted on both databases.
 */
import {
  completeQuotas,
  describeFullQuota,
  quotaErrorKeys,
  type GivenQuotas,
  type ObjectQuota,
  type Quotas,
} from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import type { Queries } from './store.js'

/** Parses the row's column. */
function parseQuotas(quotas: string | null): GivenQuotas | null {
  return quotas === null ? null : (JSON.parse(quotas) as GivenQuotas) // written by toColumns of organizations.ts
}

/** Call after the insert. `owner` null: the system administrator's own objects have no quota. Throws 'conflict'. */
export async function holdQuota(
  queries: Queries,
  owner: number | null,
  name: Exclude<ObjectQuota, 'fileBytes'>,
): Promise<void> {
  if (owner === null) return
  // Locks the row without changing it; until here concurrent inserts do not wait for each other.
  const organization = await queries
    .updateTable('organizations')
    .set((e) => ({ fileBytes: e.ref('fileBytes') }))
    .where('id', '=', owner)
    .returning(['name', 'quotas'])
    .executeTakeFirstOrThrow()
  const quota = completeQuotas(parseQuotas(organization.quotas))[name]
  if ((await countOf(queries, owner, name)) > quota) throw full(organization.name, name, quota)
}

/** Call when a version is created; `bytes` is the size of its source as stored. Throws 'conflict'. */
export async function addFileBytes(
  queries: Queries,
  owner: number | null,
  bytes: number,
): Promise<void> {
  if (owner === null) return
  const { name, quotas, fileBytes } = await queries
    .updateTable('organizations')
    .set((e) => ({ fileBytes: e('fileBytes', '+', bytes) }))
    .where('id', '=', owner)
    .returning(['name', 'quotas', 'fileBytes'])
    .executeTakeFirstOrThrow()
  const quota = completeQuotas(parseQuotas(quotas)).fileBytes
  if (fileBytes > quota) throw full(name, 'fileBytes', quota)
}

/** Call before a file's versions are deleted, with the file locked. */
export async function forgetFileBytes(queries: Queries, fileId: number): Promise<void> {
  const { bytes } = await queries
    .selectFrom('fileVersions')
    .select((e) => e.fn.sum<number | string | null>('bytes').as('bytes'))
    .where('fileId', '=', fileId)
    .executeTakeFirstOrThrow()
  await queries
    .updateTable('organizations')
    .set((e) => ({ fileBytes: e('fileBytes', '-', Number(bytes)) }))
    .where('id', '=', (e) =>
      e.selectFrom('files').select('organizationId').where('files.id', '=', fileId),
    )
    .execute()
}

export interface NamedQuotas {
  /** Name of the organization. */
  readonly name: string
  readonly quotas: Quotas
}

/** For objects that are counted elsewhere. Undefined: the organization was deleted. */
export async function readQuotas(
  queries: Queries,
  organizationId: number,
): Promise<NamedQuotas | undefined> {
  const row = await queries
    .selectFrom('organizations')
    .select(['name', 'quotas'])
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row && { name: row.name, quotas: completeQuotas(parseQuotas(row.quotas)) }
}

/** Accounts: its users of both APIs, and accounts that it created and that are users of no organization. */
async function countOf(
  queries: Queries,
  owner: number,
  name: Exclude<ObjectQuota, 'fileBytes'>,
): Promise<number> {
  if (name === 'accounts') return countAccounts(queries, owner)
  const table = name === 'vclgroups' ? 'vclGroups' : name
  const { count } = await queries
    .selectFrom(table)
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('organizationId', '=', owner)
    .executeTakeFirstOrThrow()
  return count
}

async function countAccounts(queries: Queries, owner: number): Promise<number> {
  const { count } = await queries
    .selectFrom(
      queries
        .selectFrom('users')
        .select('accountId')
        .where('organizationId', '=', owner)
        .union(
          queries
            .selectFrom('consoleUsers')
            .select('accountId')
            .where('organizationId', '=', owner),
        )
        .union(
          queries
            .selectFrom('accounts')
            .select('accounts.id as accountId')
            .where('organizationId', '=', owner)
            .where((e) =>
              e.not(
                e.exists(
                  e
                    .selectFrom('users')
                    .select('users.id')
                    .whereRef('users.accountId', '=', 'accounts.id'),
                ),
              ),
            ),
        )
        .as('counted'),
    )
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function full(organization: string, name: ObjectQuota, quota: number): FleetError {
  return new FleetError(
    'conflict',
    quotaErrorKeys[name],
    describeFullQuota(organization, name, quota),
  )
}

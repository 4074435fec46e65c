/**
 * VCL files and their versions. A version is never changed; the file's row repeats what its head says: its newest version,
 * unless the console moved the head back to an earlier one.
 */
import type { Selectable } from 'kysely'
import { toOwner, type NamedReference } from '../store/owner.js'
import { addFileBytes, forgetFileBytes, holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface FileRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organization: NamedReference | null
  readonly name: string
  readonly contentType: string
  readonly encoded: boolean
  /** 1 main, 2 include, 3 other. */
  readonly fileType: number
  /** The head's number, from 1. */
  readonly version: number
  /** SHA-256 (hex) over the decoded bytes of the head. */
  readonly sha: string
  /** The set of `cachefleet apply` that it belongs to; null: none. */
  readonly managedBy: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** What one version holds: the source as the caller gave it, text or base64. */
export interface FileContent {
  readonly source: string
  readonly encoded: boolean
  readonly contentType: string
  readonly sha: string
}

export interface FileVersionRecord extends FileContent {
  readonly version: number
  /** Name of the account that made it. */
  readonly account: string
  readonly createdAt: number
}

/** What a caller may write beside the content. */
export interface FileFields {
  readonly name: string
  readonly contentType: string
  readonly fileType: number
  readonly managedBy: string | null
  /** A branch of the console has one; left out: as it is, '' for a new file. */
  readonly description?: string | undefined
}

export async function findFile(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<FileRecord | undefined> {
  const row = await selectFiles(queries, scope).where('files.id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

export function selectFiles(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('files')
    .leftJoin('organizations', 'organizations.id', 'files.organizationId')
    .selectAll('files')
    .select('organizations.name as organizationName')
    .where(within(scope, 'files'))
}

export async function insertFile(
  queries: Queries,
  owner: number | null,
  fields: FileFields,
  version: Omit<FileVersionRecord, 'version'>,
): Promise<number> {
  const { id } = await queries
    .insertInto('files')
    .values({
      ...fields,
      organizationId: owner,
      encoded: version.encoded ? 1 : 0,
      version: 1,
      sha: version.sha,
      createdAt: version.createdAt,
      updatedAt: version.createdAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertVersion(queries, { fileId: id, organizationId: owner }, { ...version, version: 1 })
  await holdQuota(queries, owner, 'files')
  return id
}

/** Makes other writers of this file wait until the transaction ends, on both databases. */
export async function lockFile(queries: Queries, id: number): Promise<void> {
  await queries
    .updateTable('files')
    .set((e) => ({ version: e.ref('version') }))
    .where('id', '=', id)
    .execute()
}

export async function updateFile(
  queries: Queries,
  id: number,
  fields: FileFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('files')
    .set({ ...fields, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

/** Adds the next version, which is the head then. Call with the file locked. */
export async function addVersion(
  queries: Queries,
  file: FileRecord,
  version: Omit<FileVersionRecord, 'version'>,
): Promise<void> {
  const number = (await readNewestVersion(queries, file.id)) + 1
  await insertVersion(
    queries,
    { fileId: file.id, organizationId: file.organization?.id ?? null },
    { ...version, version: number },
  )
  await queries
    .updateTable('files')
    .set({ version: number, sha: version.sha, encoded: version.encoded ? 1 : 0 })
    .where('id', '=', file.id)
    .execute()
}

/** Makes a version the head again. Call with the file locked. */
export async function moveHead(
  queries: Queries,
  fileId: number,
  { version, sha, encoded, contentType }: FileVersionRecord,
  now: number,
): Promise<void> {
  await queries
    .updateTable('files')
    .set({ version, sha, encoded: encoded ? 1 : 0, contentType, updatedAt: now })
    .where('id', '=', fileId)
    .execute()
}

async function readNewestVersion(queries: Queries, fileId: number): Promise<number> {
  const { version } = await queries
    .selectFrom('fileVersions')
    .select((e) => e.fn.max('version').as('version'))
    .where('fileId', '=', fileId)
    .executeTakeFirstOrThrow()
  return version
}

async function insertVersion(
  queries: Queries,
  of: { readonly fileId: number; readonly organizationId: number | null },
  version: FileVersionRecord,
): Promise<void> {
  const bytes = Buffer.byteLength(version.source)
  await queries
    .insertInto('fileVersions')
    .values({ ...of, ...version, encoded: version.encoded ? 1 : 0, bytes })
    .execute()
  await addFileBytes(queries, of.organizationId, bytes)
}

export async function findVersion(
  queries: Queries,
  fileId: number,
  version: number,
): Promise<FileVersionRecord | undefined> {
  const row = await queries
    .selectFrom('fileVersions')
    .selectAll()
    .where('fileId', '=', fileId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && toVersion(row)
}

/** Without the sources. */
export function selectVersions(queries: Queries, fileId: number) {
  return queries
    .selectFrom('fileVersions')
    .select(['version', 'encoded', 'contentType', 'sha', 'account', 'createdAt'])
    .where('fileId', '=', fileId)
}

/** Deletes the file with its versions; the foreign keys refuse it while a group refers to it. */
export async function deleteFile(queries: Queries, id: number): Promise<void> {
  await lockFile(queries, id)
  await forgetFileBytes(queries, id)
  await queries.deleteFrom('fileVersions').where('fileId', '=', id).execute()
  await queries.deleteFrom('files').where('id', '=', id).execute()
}

/** Names of groups whose main file or include this is, or that are staged with it; at most `limit`. */
export async function readGroupsUsingFile(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select('name')
    .where((e) =>
      e.or([
        e('mainFileId', '=', id),
        e.exists(
          e
            .selectFrom('vclGroupIncludes')
            .select('groupId')
            .whereRef('groupId', '=', 'vclGroups.id')
            .where('fileId', '=', id),
        ),
        e('id', 'in', e.selectFrom('stageUses').select('groupId').where('fileId', '=', id)),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}

type FileRow = Awaited<ReturnType<ReturnType<typeof selectFiles>['executeTakeFirstOrThrow']>>

export function fromRow(row: FileRow): FileRecord {
  return {
    id: row.id,
    organization: toOwner(row),
    name: row.name,
    contentType: row.contentType,
    encoded: row.encoded === 1,
    fileType: row.fileType,
    version: row.version,
    sha: row.sha,
    managedBy: row.managedBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

function toVersion(row: Selectable<Tables['fileVersions']>): FileVersionRecord {
  return {
    version: row.version,
    source: row.source,
    encoded: row.encoded === 1,
    contentType: row.contentType,
    sha: row.sha,
    account: row.account,
    createdAt: row.createdAt,
  }
}

/**
 * VCL files and their versions. A version never changes; the file's row repeats the data of its head, which is the newest
 * version unless the console moved the head back to an earlier one.
 */
import { sql, type Selectable } from 'kysely'
import { fileVersion, listedFile } from '../../resources/file.js'
import type { ListColumns } from '../store/list-query.js'
import { selectOwned, type OwnedRow } from '../store/owned-rows.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import { addFileBytes, forgetFileBytes, holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type FileRecord = StoredRecord<typeof listedFile> & {
  /** SHA-256 (hex) over the decoded bytes of the head. */
  readonly sha: string
}

/** `source`: as sent by the caller, text or base64. */
export type FileVersionRecord = StoredRecord<typeof fileVersion> &
  Pick<FileRecord, 'sha'> & { readonly source: string }

/** The fields besides the content that a caller may write. */
export type FileFields = Pick<FileRecord, 'name' | 'contentType' | 'fileType' | 'managedBy'> & {
  /** Only for branches of the console; omitted: unchanged, '' for a new file. */
  readonly description?: string | undefined
}

export const fileColumns = {
  ...listColumns(listedFile, 'files'),
  sha: { column: sql`'"' || ${sql.ref('files.sha')} || '"'`, type: 'text' },
} satisfies ListColumns

/** A version's number is its id within its file. */
export const versionColumns = {
  ...listColumns(fileVersion, 'fileVersions'),
  id: { column: 'fileVersions.version', type: 'number' },
  sha: { column: sql`'"' || ${sql.ref('fileVersions.sha')} || '"'`, type: 'text' },
} satisfies ListColumns

export async function findFile(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<FileRecord | undefined> {
  const row = await selectFiles(queries, scope).where('files.id', '=', id).executeTakeFirst()
  return row && toFile(row)
}

export function selectFiles(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'files', within(scope, 'files'))
}

export async function insertFile(
  queries: Queries,
  owner: number | null,
  fields: FileFields,
  version: Omit<FileVersionRecord, 'version'>,
): Promise<number> {
  const { encoded, sha, createdAt: now } = version
  const row = { ...fields, encoded, sha, version: 1 }
  const id = await insertRow(queries, 'files', { ...row, organizationId: owner }, now)
  await insertVersion(queries, { fileId: id, organizationId: owner }, { ...version, version: 1 })
  await holdQuota(queries, owner, 'files')
  return id
}

/** Locks the file against other writers until the transaction ends, on both databases. */
export async function lockFile(queries: Queries, id: number): Promise<void> {
  await queries
    .updateTable('files')
    .set((e) => ({ version: e.ref('version') }))
    .where('id', '=', id)
    .execute()
}

/** Adds the next version, which becomes the head. Call with the file locked. */
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
  const { sha, encoded } = version
  await updateRow(queries, 'files', file.id, { version: number, sha, encoded })
}

/** Makes a version the head again. Call with the file locked. */
export async function moveHead(
  queries: Queries,
  fileId: number,
  { version, sha, encoded, contentType }: FileVersionRecord,
  now: number,
): Promise<void> {
  const head = { version, sha, encoded, contentType, updatedAt: now }
  await updateRow(queries, 'files', fileId, head)
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

/** Deletes the file with its versions; the foreign keys prevent this while a group refers to the file. */
export async function deleteFile(queries: Queries, id: number): Promise<void> {
  await lockFile(queries, id)
  await forgetFileBytes(queries, id)
  await queries.deleteFrom('fileVersions').where('fileId', '=', id).execute()
  await deleteRow(queries, 'files', id)
}

const readStored = rowReader(listedFile)
const readVersion = rowReader(fileVersion)

export function toFile(row: OwnedRow<'files'>): FileRecord {
  return { ...readStored(row), sha: row.sha }
}

function toVersion(row: Selectable<Tables['fileVersions']>): FileVersionRecord {
  return { ...toListedVersion(row), source: row.source }
}

/** Without the source. */
export function toListedVersion(row: { readonly sha: string }): Omit<FileVersionRecord, 'source'> {
  return { ...readVersion(row), sha: row.sha }
}

/** The names of the files that are not of this type. */
export async function readFilesOfOtherType(
  queries: Queries,
  ids: readonly number[],
  fileType: FileRecord['fileType'],
): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('files')
    .select('name')
    .where('id', 'in', [...ids])
    .where('fileType', '!=', fileType)
    .orderBy('id')
    .execute()
  return rows.map(({ name }) => name)
}

/** VCL files: a name, what kind of file it is, and immutable versions of its content (choices: 2, files). */
import { parseListQuery } from '../../resources/list-query.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import {
  defaultContentType,
  defaultFileType,
  fileTypes,
  readFileContent,
  type FileContent,
  type FileType,
} from '../../vcl/file.js'
import { FleetError } from '../../errors.js'
import {
  addVersion,
  deleteFile as deleteFileRow,
  findFile as findFileRow,
  findVersion,
  fromRow,
  insertFile,
  lockFile,
  readGroupsUsingFile,
  selectFiles,
  updateFile as updateFileRow,
  type FileFields,
  type FileRecord,
} from './file-queries.js'
import { fileColumns } from '../fleet/list-columns.js'
import type { Queries } from '../store/store.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import {
  chooseOwner,
  deleteUnused,
  mergeManagedBy,
  unmanaged,
  usersNamed,
  withUniqueName,
  type OwnerReference,
} from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'

export type { FileRecord } from './file-queries.js'

export interface WholeFile extends FileRecord {
  readonly source: string
}

export const fileListFields = Object.keys(fileColumns)

/** Without their sources. `vclOnly`: main files and includes. */
export async function listFiles(
  service: StateService,
  actor: Actor,
  query: ListParameters,
  { vclOnly }: { readonly vclOnly: boolean },
): Promise<LongListAnswer<FileRecord>> {
  const list = parseListQuery(query, fileColumns, 'file')
  const all = selectFiles(service.store.queries, scopeOf(actor))
  const files = vclOnly ? all.where('files.fileType', '!=', fileTypes.other) : all
  return readLongList(files, list, fileColumns, (rows) => rows.map(fromRow))
}

export async function findFile(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<FileRecord | undefined> {
  return findFileRow(service.store.queries, scopeOf(actor), id)
}

export async function readWholeFile(service: StateService, file: FileRecord): Promise<WholeFile> {
  return withSource(service.store.queries, file)
}

/** As a body has it: a key that is left out keeps its value, null resets it to what it would be by default. */
export interface FileChange {
  readonly name?: string | undefined
  readonly source?: string | undefined
  readonly encoded?: boolean | null | undefined
  readonly contentType?: string | null | undefined
  readonly fileType?: FileType | null | undefined
  readonly managedBy?: string | null | undefined
  /** Of a branch of the console. */
  readonly description?: string | undefined
}

export interface NewFile extends FileChange {
  readonly name: string
  readonly source: string
  readonly organization?: OwnerReference
}

export async function createFile(
  service: StateService,
  actor: Actor,
  wanted: NewFile,
): Promise<WholeFile> {
  const { store } = service
  const name = parseName(wanted.name, 'file')
  const encoded = wanted.encoded ?? false
  const content = readContent(wanted.source, encoded)
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'file')
  const fields = {
    name,
    contentType: requireContentType(wanted.contentType) ?? defaultContentType(encoded),
    fileType: wanted.fileType ?? defaultFileType(content),
    managedBy: mergeManagedBy(unmanaged, wanted.managedBy, 'file'),
    description: wanted.description,
  }
  const version = {
    source: wanted.source,
    encoded,
    contentType: fields.contentType,
    sha: content.sha,
    account: actor.accountName,
    createdAt: service.now(),
  }
  return withUniqueName(name, 'file', () =>
    store.transaction(async (queries) => {
      const id = await insertFile(queries, owner, fields, version)
      return readAgain(queries, actor, id)
    }),
  )
}

/** New content makes the next version; equal content, a rename and another type make none. */
export async function updateFile(
  service: StateService,
  actor: Actor,
  id: number,
  change: FileChange,
): Promise<WholeFile> {
  const named = change.name === undefined ? '' : parseName(change.name, 'file')
  return withUniqueName(named, 'file', () =>
    service.store.transaction(async (queries) => {
      await lockFile(queries, id)
      const file = await readAgain(queries, actor, id)
      await writeChange(queries, service.now(), { actor, file, change })
      return readAgain(queries, actor, id)
    }),
  )
}

interface Writing {
  readonly actor: Actor
  readonly file: WholeFile
  readonly change: FileChange
}

async function writeChange(queries: Queries, now: number, { actor, file, change }: Writing) {
  const encoded = change.encoded === undefined ? file.encoded : (change.encoded ?? false)
  if (encoded !== file.encoded && change.source === undefined)
    throw new FleetError(
      'invalid',
      'file',
      `encoded changes from ${file.encoded} to ${encoded}: give the source in that form as well`,
    )
  const source = change.source ?? file.source
  const content = readContent(source, encoded)
  const fields = mergeFields(file, change, { encoded, content })
  const isNew = content.sha !== file.sha || encoded !== file.encoded
  if (isNew || !isSame(fields, file)) await updateFileRow(queries, file.id, fields, now)
  if (isNew)
    await addVersion(queries, file, {
      source,
      encoded,
      contentType: fields.contentType,
      sha: content.sha,
      account: actor.accountName,
      createdAt: now,
    })
}

function mergeFields(
  file: FileRecord,
  { name, contentType, fileType, managedBy, description }: FileChange,
  { encoded, content }: { readonly encoded: boolean; readonly content: FileContent },
): FileFields {
  // The other form has another default type.
  const kept = encoded === file.encoded ? file.contentType : defaultContentType(encoded)
  return {
    name: name ?? file.name,
    contentType:
      contentType === null
        ? defaultContentType(encoded)
        : (requireContentType(contentType) ?? kept),
    fileType: fileType === null ? defaultFileType(content) : (fileType ?? file.fileType),
    managedBy: mergeManagedBy(file, managedBy, 'file'),
    description,
  }
}

function isSame(fields: FileFields, file: FileRecord): boolean {
  return (
    fields.name === file.name &&
    fields.contentType === file.contentType &&
    fields.fileType === file.fileType &&
    fields.managedBy === file.managedBy &&
    fields.description === undefined
  )
}

export async function deleteFile(service: StateService, file: FileRecord): Promise<void> {
  await deleteUnused(
    'VCL group',
    'file',
    () => readGroupsUsingFile(service.store.queries, file.id, usersNamed),
    () => service.store.transaction((queries) => deleteFileRow(queries, file.id)),
  )
}

function readContent(source: string, encoded: boolean): FileContent {
  const read = readFileContent({ source, encoded })
  if (!read.ok) throw new FleetError('invalid', 'file', `source: ${read.problem}`)
  return read.content
}

/** RFC 9110 media type with parameters; it is answered in JSON only, so that no control is all that matters. */
function requireContentType(contentType: string | null | undefined): string | undefined {
  if (contentType === null || contentType === undefined) return undefined
  if (!/^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[\x20-\x7e]{0,255})?$/.test(contentType))
    throw new FleetError(
      'invalid',
      'file',
      'contentType is no media type; text/plain; charset=utf-8 is one',
    )
  return contentType
}

async function readAgain(queries: Queries, actor: Actor, id: number): Promise<WholeFile> {
  const file = await findFileRow(queries, scopeOf(actor), id)
  if (!file) throw new FleetError('not-found', 'file', `${id} was not found`)
  return withSource(queries, file)
}

async function withSource(queries: Queries, file: FileRecord): Promise<WholeFile> {
  const version = await findVersion(queries, file.id, file.version)
  if (!version) throw new FleetError('not-found', 'file', `${file.id} was not found`)
  return { ...file, source: version.source }
}

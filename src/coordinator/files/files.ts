/** VCL files: a name, a file type, and immutable versions of the content. */
import { file, fileTypes } from '../../resources/file.js'
import type { Actor } from '../../resources/permission.js'
import {
  defaultContentType,
  defaultFileType,
  readFileContent,
  type FileContent,
} from '../../vcl/file.js'
import { FleetError } from '../../errors.js'
import { chooseOwner, deleteUnused, usersNamed, withUniqueName } from '../api/find-references.js'
import { requireFound } from '../api/list-objects.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import { readUsingGroups } from '../fleet/using-groups.js'
import { updateRow } from '../store/write-rows.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import type { Queries } from '../store/store.js'
import { requireTestFile } from './check-test-file.js'
import {
  addVersion,
  deleteFile as deleteFileRow,
  findFile,
  findVersion,
  insertFile,
  lockFile,
  type FileFields,
  type FileRecord,
} from './file-queries.js'

type WholeFile = FileRecord & { readonly source: string }

export async function readWholeFile(service: StateService, found: FileRecord): Promise<WholeFile> {
  return withSource(service.store.queries, found)
}

/** The description of a console branch. */
interface Described {
  readonly description?: string | undefined
}

type FileChange = UpdateBody<typeof file.fields> & Described

export async function createFile(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof file.fields> & Described,
): Promise<WholeFile> {
  const { store } = service
  const { source } = wanted
  const encoded = wanted.encoded ?? false
  const content = readContent(source, encoded)
  const fields = mergeFields(wanted, { encoded, content })
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'file')
  const { contentType } = fields
  if (fields.fileType === fileTypes.test) await requireTestFile(fields.name, content.text)
  const made = { account: actor.accountName, createdAt: service.now() }
  const version = { source, encoded, contentType, sha: content.sha, ...made }
  return withUniqueName(fields.name, 'file', () =>
    store.transaction(async (queries) => {
      const id = await insertFile(queries, owner, fields, version)
      return readAgain(queries, actor, id)
    }),
  )
}

/** New content creates the next version; equal content, a rename or a new type does not. */
export async function updateFile(
  service: StateService,
  actor: Actor,
  id: number,
  change: FileChange,
): Promise<WholeFile> {
  await checkTest(service, actor, id, change)
  return withUniqueName(change.name ?? '', 'file', () =>
    service.store.transaction(async (queries) => {
      await lockFile(queries, id)
      const before = await readAgain(queries, actor, id)
      await writeChange(queries, service.now(), { actor, before, change })
      return readAgain(queries, actor, id)
    }),
  )
}

/** Runs before the transaction, because a long test is parsed in a thread and other writers would have to wait. */
async function checkTest(
  { store }: StateService,
  actor: Actor,
  id: number,
  change: FileChange,
): Promise<void> {
  if (change.source === undefined && change.fileType === undefined) return
  const before = await readAgain(store.queries, actor, id)
  if ((change.fileType ?? before.fileType) !== fileTypes.test) return
  const { text } = readContent(change.source ?? before.source, change.encoded ?? before.encoded)
  await requireTestFile(change.name ?? before.name, text)
}

interface Writing {
  readonly actor: Actor
  readonly before: WholeFile
  readonly change: FileChange
}

async function writeChange(queries: Queries, now: number, { actor, before, change }: Writing) {
  const encoded = change.encoded === undefined ? before.encoded : (change.encoded ?? false)
  if (encoded !== before.encoded && change.source === undefined)
    throw new FleetError(
      'invalid',
      'file',
      `encoded changes from ${before.encoded} to ${encoded}: give the source in that form as well`,
    )
  const source = change.source ?? before.source
  const content = readContent(source, encoded)
  const fields = mergeFields(change, { encoded, content }, before)
  const isNew = content.sha !== before.sha || encoded !== before.encoded
  if (isNew || !isSame(fields, before))
    await updateRow(queries, 'files', before.id, { ...fields, updatedAt: now })
  if (!isNew) return
  const made = { account: actor.accountName, createdAt: now }
  const { contentType } = fields
  await addVersion(queries, before, { source, encoded, contentType, sha: content.sha, ...made })
}

function mergeFields(
  body: FileChange,
  { encoded, content }: { readonly encoded: boolean; readonly content: FileContent },
  before?: FileRecord,
): FileFields {
  const { name, contentType, fileType, managedBy } = mergeWritten(file, body, before)
  // The default content type depends on `encoded`.
  const isKept = body.contentType !== undefined || encoded === before?.encoded
  return {
    name,
    contentType: requireContentType((isKept ? contentType : null) ?? defaultContentType(encoded)),
    fileType: fileType ?? defaultFileType(content),
    managedBy,
    description: body.description,
  }
}

const usedBy = [
  'vclGroups.mainFileId',
  'vclGroupIncludes.fileId',
  'vclGroupTests.fileId',
  'stageUses.fileId',
] as const

export async function deleteFile(service: StateService, found: FileRecord): Promise<void> {
  await deleteUnused(
    'VCL group',
    'file',
    () => readUsingGroups(service.store.queries, usedBy, found.id, usersNamed),
    () => service.store.transaction((queries) => deleteFileRow(queries, found.id)),
  )
}

function readContent(source: string, encoded: boolean): FileContent {
  const read = readFileContent({ source, encoded })
  if (!read.ok) throw new FleetError('invalid', 'file', `source: ${read.problem}`)
  return read.content
}

/** RFC 9110 media type with parameters; it is only returned in JSON, so rejecting control characters is enough. */
function requireContentType(contentType: string): string {
  if (/^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[\x20-\x7e]{0,255})?$/.test(contentType))
    return contentType
  throw new FleetError(
    'invalid',
    'file',
    'contentType is not a media type; text/plain; charset=utf-8 is one',
  )
}

async function readAgain(queries: Queries, actor: Actor, id: number): Promise<WholeFile> {
  return withSource(queries, requireFound(await findFile(queries, scopeOf(actor), id), 'file', id))
}

async function withSource(queries: Queries, found: FileRecord): Promise<WholeFile> {
  const version = await findVersion(queries, found.id, found.version)
  return { ...found, source: requireFound(version, 'file', found.id).source }
}

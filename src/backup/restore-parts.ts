/** Restores all parts of a backup or none: writes them beside their targets, checks them, then renames them, the store last. */
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readSealedBy } from '../coordinator/identity/sealed-texts.js'
import { parseSecretKey } from '../coordinator/identity/secret-key.js'
import { deleteAllSessions } from '../coordinator/identity/session-queries.js'
import { deleteLoginCodes } from '../coordinator/identity/idp-logins.js'
import { noteRestoredRevisions } from '../coordinator/fleet/restored-revisions.js'
import { checkPages } from '../coordinator/store/copy-sqlite.js'
import { openStore } from '../coordinator/store/open-store.js'
import { caFileOf } from '../coordinator/tls/own-ca.js'
import { createLog } from '../log.js'
import { draftOf, syncFolder } from '../runtime/durable-file.js'
import { BackupError, type BackupContents, type OpenedBackup } from './backup-file.js'
import type { Place } from './collect-parts.js'

export interface Restored {
  /** The number of ended sessions. */
  readonly sessions: number
  readonly agents: number
}

type PartName = BackupContents['parts'][number]['name']
type Targets = Readonly<Partial<Record<PartName, string>>>

/** SQLite's files beside an open store. */
const journals = ['-wal', '-shm', '-journal'] as const
const maxNames = 5

/** In the order in which they are renamed: the last rename completes the restore. */
function listTargets({ stateDir, storeFile, secretKeyFile }: Place): Targets {
  return {
    ca: caFileOf(stateDir),
    secretKey: secretKeyFile,
    ...(storeFile !== null && { store: storeFile }),
  }
}

/** Throws BackupError if a target already exists, except for leftovers of a killed restore. */
export async function requireEmpty(place: Place): Promise<void> {
  const targets = Object.values(listTargets(place))
  const last = targets.at(-1) ?? ''
  const isHalf = existsSync(draftOf(last)) && !existsSync(last)
  const ours = new Set(isHalf ? targets.flatMap(withDrafts).map((path) => basename(path)) : [])
  const names = await readdir(place.stateDir).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const found = [
    ...names.filter((name) => !ours.has(name)),
    ...targets.filter((path) => dirname(path) !== place.stateDir && !isHalf && existsSync(path)),
  ]
  if (found.length === 0) return
  const listed = found.slice(0, maxNames).join(', ')
  throw new BackupError(
    `${place.stateDir} is not empty (${listed}${found.length > maxNames ? ', …' : ''}): a backup is restored into an empty state directory; move what is there away first`,
  )
}

function withDrafts(path: string): readonly string[] {
  const draft = draftOf(path)
  return [path, draft, ...journals.map((ending) => `${draft}${ending}`)]
}

/** Throws BackupError, and then leaves no files behind. */
export async function restoreParts(place: Place, backup: OpenedBackup): Promise<Restored> {
  const targets = listTargets(place)
  requireFit(place, backup.contents)
  try {
    for (const { name, bytes } of backup.contents.parts)
      await writeDraft(draftOf(targets[name] ?? ''), backup.readPart(bytes))
    await backup.end()
    const done = await checkDrafts(targets)
    for (const [name, path] of Object.entries(targets))
      if (backup.contents.parts.some((part) => part.name === name)) {
        await rename(draftOf(path), path)
        await syncFolder(dirname(path))
      }
    return done
  } catch (error) {
    for (const path of Object.values(targets).flatMap(withDrafts)) await rm(path, { force: true })
    throw error
  }
}

function requireFit({ storeFile }: Place, { store, parts }: BackupContents): void {
  const wanted: readonly PartName[] = store === 'sqlite' ? ['store', 'secretKey'] : ['secretKey']
  if (!wanted.every((name) => parts.some((part) => part.name === name)))
    throw new BackupError('the backup lacks a part; nothing was restored')
  if (store === 'sqlite' && storeFile === null)
    throw new BackupError(
      'the backup holds an SQLite store, and the settings name PostgreSQL: restore it without --store, then cachefleetd migrate',
    )
  if (store === 'postgres' && storeFile !== null)
    throw new BackupError(
      'the backup is of a coordinator on PostgreSQL: name its database with --store or CACHEFLEET_STORE',
    )
}

async function writeDraft(draft: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(draft), { recursive: true, mode: 0o700 })
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  await pipeline(pieces, createWriteStream('', { fd: file, flush: true }))
}

async function checkDrafts({ secretKey = '', store }: Targets): Promise<Restored> {
  const key = parseSecretKey(await readFile(draftOf(secretKey), 'utf8'))
  if (!key) throw new BackupError('the backup holds no secret key; nothing was restored')
  if (store === undefined) return { sessions: 0, agents: 0 }
  const draft = draftOf(store)
  checkPages(draft)
  const opened = await openStore(`sqlite:${draft}`, createLog('warn'))
  try {
    const sealedBy = await readSealedBy(opened.queries)
    if (sealedBy !== undefined && sealedBy !== key.id)
      throw new BackupError('the secret key of the backup does not open its store')
    return await opened.transaction(async (queries) => {
      // Session ids are reused after a restore: an old access token must not match a new session.
      await queries.deleteFrom('signingKeys').execute()
      await deleteLoginCodes(queries)
      await queries.deleteFrom('joinTokens').execute()
      await noteRestoredRevisions(queries)
      const sessions = await deleteAllSessions(queries)
      const { count } = await queries
        .selectFrom('agents')
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return { sessions, agents: count }
    })
  } finally {
    await opened.close()
  }
}

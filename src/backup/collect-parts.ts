/** Collects the parts of a backup: a copy of the store, its secret key, the CA. Runs as the user who owns them. */
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { kill, pid } from 'node:process'
import { Readable } from 'node:stream'
import { readSealedBy } from '../coordinator/identity/sealed-texts.js'
import { readSecretKey } from '../coordinator/identity/secret-key-file.js'
import { formatSecretKey, type SecretKey } from '../coordinator/identity/secret-key.js'
import { copySqlite } from '../coordinator/store/copy-sqlite.js'
import { openSqlite } from '../coordinator/store/sqlite.js'
import { caFileOf } from '../coordinator/tls/own-ca.js'
import { readIfThere } from '../runtime/durable-file.js'
import { BackupError, type BackupContents } from './backup-file.js'

export interface Place {
  readonly stateDir: string
  /** Null: the store is PostgreSQL. */
  readonly storeFile: string | null
  readonly secretKeyFile: string
}

type PartName = BackupContents['parts'][number]['name']

export interface Part {
  readonly name: PartName
  readonly bytes: number
  /** Can be called once. */
  readonly read: () => AsyncIterable<Buffer>
}

interface CollectedParts {
  readonly parts: readonly Part[]
  /** Removes the copy of the store. */
  readonly release: () => Promise<void>
}

/** During a key rotation, the copy may be sealed with one key while the key file holds the other. */
const attempts = 10
const folderForm = /^backup-(\d+)$/

/** Throws BackupError. */
export async function collectParts(place: Place): Promise<CollectedParts> {
  const ca = await readIfThere(caFileOf(place.stateDir))
  const rest = ca === null ? [] : [toPart('ca', ca)]
  if (place.storeFile === null) {
    const key = await requireKey(place.secretKeyFile)
    return {
      parts: [toPart('secretKey', formatSecretKey(key)), ...rest],
      release: () => Promise.resolve(),
    }
  }
  await removeLeftCopies(place.stateDir)
  const folder = join(place.stateDir, `backup-${pid}`)
  const release = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await mkdir(folder, { mode: 0o700 })
    const copy = join(folder, 'store')
    const key = await copyWithKey(place.storeFile, copy, place)
    // Opened now: the process may read it as another user later, who must not follow links here.
    const file = await open(copy, 'r')
    const { size } = await file.stat()
    const store: Part = {
      name: 'store',
      bytes: size,
      read: () => createReadStream('', { fd: file, highWaterMark: 65_536 }),
    }
    return { parts: [store, toPart('secretKey', formatSecretKey(key)), ...rest], release }
  } catch (error) {
    await release()
    throw error
  }
}

async function copyWithKey(store: string, copy: string, place: Place): Promise<SecretKey> {
  for (let attempt = 1; ; attempt++) {
    await rm(copy, { force: true })
    await copySqlite(store, copy).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause)
      const message = `the store ${store} cannot be copied: ${why}; ${place.stateDir} needs as much room as the store has`
      throw new BackupError(message, { cause })
    })
    const sealedBy = await askForKey(copy)
    const key = await requireKey(place.secretKeyFile)
    if (sealedBy === undefined || sealedBy === key.id) return key
    if (attempt === attempts)
      throw new BackupError(
        `${place.secretKeyFile} is not the key that seals the store (--secret-key-file): with it the backup could not be used`,
      )
  }
}

async function askForKey(copy: string): Promise<string | undefined> {
  const database = openSqlite(copy)
  try {
    return await readSealedBy(database.queries)
  } finally {
    await database.close()
  }
}

async function requireKey(file: string): Promise<SecretKey> {
  const key = await readSecretKey(file)
  if (key) return key
  throw new BackupError(
    `there is no secret key ${file} (--secret-key-file): without it the backup could not be used`,
  )
}

function toPart(name: PartName, text: string): Part {
  const bytes = Buffer.from(text)
  return {
    name,
    bytes: bytes.length,
    read: () => Readable.from([bytes]),
  }
}

/** Removes the copies left by backups that were killed. */
async function removeLeftCopies(stateDir: string): Promise<void> {
  for (const name of await readdir(stateDir)) {
    const [, owner] = folderForm.exec(name) ?? []
    if (owner !== undefined && !(isAlive(Number(owner)) && Number(owner) !== pid))
      await rm(join(stateDir, name), { recursive: true, force: true })
  }
}

function isAlive(other: number): boolean {
  try {
    return kill(other, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

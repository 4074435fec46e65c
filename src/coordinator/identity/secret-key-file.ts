/** The file of the secret key, and beside it the previous key while a rotation is under way. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FleetError } from '../../errors.js'
import { writeDurably, writeWhole } from '../../runtime/durable-file.js'
import {
  formatSecretKey,
  keyBytes,
  makeSecretKey,
  parseSecretKey,
  type SecretKey,
} from './secret-key.js'

/** Undefined if there is no file. Throws FleetError 'invalid' if it cannot be read or holds no key. */
export async function readSecretKey(file: string): Promise<SecretKey | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined
    const why = error instanceof Error ? error.message : String(error)
    const message = `--secret-key-file: ${file} cannot be read: ${why}; the file must belong to this user`
    throw new FleetError('invalid', 'store', message, { cause: error })
  })
  if (text === undefined) return undefined
  const key = parseSecretKey(text)
  if (key) return key
  throw new FleetError(
    'invalid',
    'store',
    `--secret-key-file: ${file} does not hold a secret key (${keyBytes} bytes in base64url)`,
  )
}

/** Undefined if there is no usable one. */
export async function readPreviousKey(file: string): Promise<SecretKey | undefined> {
  return readSecretKey(previousFile(file)).catch(() => undefined)
}

/** Writes the whole file and then links it into place, so that two processes that start at once end up with the same key. */
export async function createSecretKey(file: string): Promise<SecretKey> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeWhole(draft, formatSecretKey(makeSecretKey()))
  await link(draft, file).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  await rm(draft)
  const key = await readSecretKey(file)
  if (key === undefined) throw new Error(`${file} was made and is gone`)
  return key
}

/** Writes `before` to disk beside the file first: whichever of the two seals the store, a kill at any moment loses neither. */
export async function replaceSecretKey(
  file: string,
  before: SecretKey,
  next: SecretKey,
): Promise<void> {
  await writeDurably(previousFile(file), formatSecretKey(before))
  await writeDurably(file, formatSecretKey(next))
}

export async function removePreviousKey(file: string): Promise<void> {
  await rm(previousFile(file), { force: true })
}

/** A file that holds no key would keep every coordinator from starting. Returns its new path; null: the file was valid. */
export async function setAsideBadKey(file: string): Promise<string | null> {
  const isBad = await readSecretKey(file).then(
    () => false,
    (error: unknown) => error instanceof FleetError,
  )
  if (!isBad) return null
  await rename(file, `${file}.bad`)
  return `${file}.bad`
}

function previousFile(file: string): string {
  return `${file}.previous`
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

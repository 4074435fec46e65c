/** Seals what must be recovered from the store (signing keys, client secrets) with a key that is not in the store. */
import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  type CipherGCMTypes,
} from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FleetError } from '../../../errors.js'

export interface Sealing {
  /** `purpose` names what is sealed; only the same purpose opens it. */
  seal(text: string, purpose: string): string
  /** Throws FleetError 'unavailable' when another key has sealed it. */
  open(sealed: string, purpose: string): string
  /** 32 bytes that follow from the secret key: the same on all coordinators of a store. */
  deriveKey(purpose: string): Buffer
}

const cipher: CipherGCMTypes = 'aes-256-gcm'
const keyBytes = 32
const ivBytes = 12
const tagBytes = 16
/** First part of what is sealed, so that another way of sealing can follow. */
const version = 'v1'

/** Reads the secret key, or makes it (0600) where there is none (choices: 1, --secret-key-file). */
export async function openSealing(secretKeyFile: string): Promise<Sealing> {
  const key = (await readKey(secretKeyFile)) ?? (await makeKey(secretKeyFile))
  return {
    seal: (text, purpose) => {
      const iv = randomBytes(ivBytes)
      const encrypt = createCipheriv(cipher, key, iv).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([encrypt.update(text, 'utf8'), encrypt.final()])
      const whole = Buffer.concat([iv, encrypt.getAuthTag(), sealed])
      return `${version}.${whole.toString('base64url')}`
    },
    open: (sealed, purpose) => openSealed(sealed, purpose, { key, secretKeyFile }),
    deriveKey: (purpose) => Buffer.from(hkdfSync('sha256', key, 'cachefleet', purpose, keyBytes)),
  }
}

function openSealed(
  sealed: string,
  purpose: string,
  { key, secretKeyFile }: { readonly key: Buffer; readonly secretKeyFile: string },
): string {
  const [, encoded = ''] = sealed.split('.')
  const whole = Buffer.from(encoded, 'base64url')
  try {
    const decrypt = createDecipheriv(cipher, key, whole.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(whole.subarray(ivBytes, ivBytes + tagBytes))
    const text = decrypt.update(whole.subarray(ivBytes + tagBytes))
    return Buffer.concat([text, decrypt.final()]).toString('utf8')
  } catch (cause) {
    throw new FleetError(
      'unavailable',
      'store',
      `${secretKeyFile} does not hold the secret key that sealed the ${purpose} in the store; ` +
        'give all coordinators of a store the same file',
      { cause },
    )
  }
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined
    const why = error instanceof Error ? error.message : String(error)
    const message = `--secret-key-file: ${file} cannot be read: ${why}; a file of this user is right`
    throw new FleetError('invalid', 'store', message, { cause: error })
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length !== keyBytes)
    throw new FleetError(
      'invalid',
      'store',
      `--secret-key-file: ${file} does not hold a secret key: ${keyBytes} bytes in base64url are right`,
    )
  return key
}

/** Linked into place whole, so that two processes that start at once end up with the same key. */
async function makeKey(file: string): Promise<Buffer> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const made = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(made, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(keyBytes).toString('base64url')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await link(made, file).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error
  })
  await rm(made)
  const key = await readKey(file)
  if (key === undefined) throw new Error(`${file} was made and is gone`)
  return key
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** The secret key seals secrets that must be readable from the store (signing keys, client secrets); it is not itself stored there. */
import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  type CipherGCMTypes,
} from 'node:crypto'

export interface SecretKey {
  /** Identifies the key without revealing it. */
  readonly id: string
  readonly bytes: Buffer
}

export const keyBytes = 32

const cipher: CipherGCMTypes = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/** The first part of a sealed text, so that the format can change later. */
const version = 'v1'

export function makeSecretKey(): SecretKey {
  return nameKey(randomBytes(keyBytes))
}

/** Undefined: the text holds no secret key. */
export function parseSecretKey(text: string): SecretKey | undefined {
  const bytes = Buffer.from(text.trim(), 'base64url')
  return bytes.length === keyBytes ? nameKey(bytes) : undefined
}

export function formatSecretKey({ bytes }: SecretKey): string {
  return `${bytes.toString('base64url')}\n`
}

/** `purpose` names what is sealed; only the same purpose opens it. */
export function sealText({ bytes }: SecretKey, text: string, purpose: string): string {
  const iv = randomBytes(ivBytes)
  const encrypt = createCipheriv(cipher, bytes, iv).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([encrypt.update(text, 'utf8'), encrypt.final()])
  const whole = Buffer.concat([iv, encrypt.getAuthTag(), sealed])
  return `${version}.${whole.toString('base64url')}`
}

/** Undefined: it was sealed with another key or for another purpose, or it was changed. */
export function openText(
  { bytes }: SecretKey,
  sealed: string,
  purpose: string,
): string | undefined {
  const [, encoded = ''] = sealed.split('.')
  const whole = Buffer.from(encoded, 'base64url')
  try {
    const decrypt = createDecipheriv(cipher, bytes, whole.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(whole.subarray(ivBytes, ivBytes + tagBytes))
    const text = decrypt.update(whole.subarray(ivBytes + tagBytes))
    return Buffer.concat([text, decrypt.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** 32 bytes derived from the secret key. */
export function deriveKey({ bytes }: Pick<SecretKey, 'bytes'>, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, 'cachefleet', purpose, keyBytes))
}

function nameKey(bytes: Buffer): SecretKey {
  return { bytes, id: deriveKey({ bytes }, 'id of the secret key').toString('hex').slice(0, 16) }
}

/** Licenses as a vendor signs them. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

export const vendor = generateKeyPairSync('ed25519')
export const daySeconds = 24 * 3600

interface LicenseOptions {
  readonly key?: KeyObject
  readonly alg?: string
  readonly [field: string]: unknown
}

/** `days`: days until the license expires. */
export function makeLicense(
  days: number,
  { key = vendor.privateKey, alg = 'EdDSA', ...fields }: LicenseOptions = {},
): string {
  const expires = Math.floor(Date.now() / 1000) + days * daySeconds
  const payload = { name: 'example', expires, graceDays: 10, maxCaches: 100, ...fields }
  const text = [{ alg }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
}

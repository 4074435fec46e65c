/** Whether the console may be used under its license now. */
import { Type } from 'typebox'
import { describeMismatch, prepareCheck } from '../../mismatch.js'
import { matching, whole, type Fitting } from '../../resources/json-fields.js'

/** Within the range of dates, and more than any grace period needs. */
const maxGraceDays = 3_650

/** The signed payload. */
const license = Type.Object({
  /** The licensee. */
  name: matching(/^[^\p{Cc}\p{Surrogate}]{1,255}$/u, '1 to 255 characters'),
  /** Seconds since 1970. */
  expires: whole(0, Math.floor(Number.MAX_SAFE_INTEGER / 1000)),
  /** Days of use after it expires. */
  graceDays: whole(0, maxGraceDays),
  maxCaches: whole(0),
})
export type License = Fitting<typeof license>

export type LicenseState =
  | { readonly kind: 'off' | 'missing' | 'valid' | 'expired' }
  | { readonly kind: 'grace'; readonly daysLeft: number }
  | { readonly kind: 'too many caches'; readonly maxCaches: number }

interface LicenseFacts {
  /** A key for checking licenses is configured. */
  readonly isChecked: boolean
  /** Null: none was uploaded. */
  readonly license: License | null
  /** Registered caches in any state. */
  readonly caches: number
  readonly nowMs: number
}

const dayMs = 24 * 3600 * 1000

/** Expiry is checked first: an expired license allows no cache at all. */
export function judgeLicense({ isChecked, license, caches, nowMs }: LicenseFacts): LicenseState {
  if (!isChecked) return { kind: 'off' }
  if (license === null) return { kind: 'missing' }
  const expiresMs = license.expires * 1000
  const endMs = expiresMs + license.graceDays * dayMs
  if (nowMs >= endMs) return { kind: 'expired' }
  if (caches > license.maxCaches) return { kind: 'too many caches', maxCaches: license.maxCaches }
  if (nowMs < expiresMs) return { kind: 'valid' }
  return { kind: 'grace', daysLeft: Math.ceil((endMs - nowMs) / dayMs) }
}

export function allowsConsole({ kind }: LicenseState): boolean {
  return kind === 'off' || kind === 'valid' || kind === 'grace'
}

/** The message for a refused caller: what, why, and what would be right. */
export function describeLicenseState(state: LicenseState): string {
  const upload = 'a system administrator uploads one with POST /api/v1/license/upload'
  switch (state.kind) {
    case 'off':
      return 'licenses are not checked here'
    case 'missing':
      return `there is no license; ${upload}`
    case 'valid':
      return 'the license is valid'
    case 'grace':
      return `the license has expired; ${state.daysLeft} day(s) of grace are left`
    case 'expired':
      return `the license and its grace period have expired; ${upload}`
    case 'too many caches':
      return `there are more caches than the ${state.maxCaches} of the license; ${upload}, or caches are deleted in the controller`
  }
}

const findMismatch = prepareCheck(license)

/** Returns the license, or a description of the mismatch. */
export function readLicense(payload: unknown): License | string {
  const mismatch = findMismatch(payload)
  if (mismatch) return describeMismatch(mismatch, 'what is signed')
  const { name, expires, graceDays, maxCaches } = payload as License // it fits
  return { name, expires, graceDays, maxCaches }
}

/**
 * The license of the console: one text in the store for all coordinators, a compact JWS that the vendor signs with EdDSA
 * (docs/behaviour.md, Console license). Without a key to check it everything is allowed and nothing is checked.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { compactVerify, decodeProtectedHeader } from 'jose'
import {
  allowsConsole,
  describeLicenseState,
  judgeLicense,
  readLicense,
  type License,
  type LicenseState,
} from './read-license.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { countAgentsByState } from '../agents/count-queries.js'
import { readSetting, writeSetting } from '../store/settings.js'
import type { StateService } from '../service.js'
import { createReadCache } from '../../runtime/bounded-cache.js'

export interface Licensing {
  /** Cached for some seconds. Throws the store's errors. */
  read(): Promise<LicenseStatus>
  /** Throws FleetError 'unlicensed'. */
  requireLicense(): Promise<void>
  /** Throws 'forbidden' unless system administrator, 'invalid' for an invalid license, 'conflict' if licenses are not checked. */
  upload(actor: Actor, text: string): Promise<LicenseStatus>
}

export interface LicenseStatus {
  readonly license: License | null
  readonly state: LicenseState
}

/** docs/behaviour.md, Console license: EdDSA only. */
const algorithm = 'EdDSA'
const settingName = 'consoleLicense'
/** The delay after which other coordinators notice a change, so that a call costs no query. */
const rememberedMs = 3_000
/** Characters of a license; about 200 are usual. */
const maxCharacters = 16_384

/** Throws FleetError 'invalid' for a file that is not an Ed25519 public key: bad configuration (docs/behaviour.md, Settings). */
export async function readLicenseKey(file: string): Promise<KeyObject> {
  const refuse = (why: string, cause?: unknown): FleetError =>
    new FleetError(
      'invalid',
      'license',
      `--license-key must name a PEM file with an Ed25519 public key: ${why}`,
      { cause },
    )
  let key: KeyObject
  try {
    const pem = await readFile(file, 'utf8')
    if (pem.includes('PRIVATE KEY'))
      throw new Error('this is a private key, which must not be here')
    key = createPublicKey(pem)
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error), error)
  }
  if (key.asymmetricKeyType === 'ed25519') return key
  throw refuse(`this is a key of type ${String(key.asymmetricKeyType)}`)
}

/** `key` null: licenses are not checked. */
export function createLicensing(service: StateService, key: KeyObject | null): Licensing {
  const { store, now } = service
  const remembered = createReadCache<LicenseStatus>({ most: 1, believedMs: rememberedMs, now })

  const load = async (): Promise<LicenseStatus> => {
    if (key === null) return { license: null, state: judge(null, 0) }
    const text = await readSetting(store.queries, settingName)
    // Signed for a previous key, or another coordinator's: treated as missing.
    const license = text === undefined ? null : await verify(text, key).catch(() => null)
    const counts =
      license === null ? [] : (await countAgentsByState(store.queries, { kind: 'all' })).values()
    return {
      license,
      state: judge(
        license,
        [...counts].reduce((sum, count) => sum + count, 0),
      ),
    }
  }
  const judge = (license: License | null, caches: number): LicenseState =>
    judgeLicense({ isChecked: key !== null, license, caches, nowMs: now() })
  const read = (): Promise<LicenseStatus> => remembered.read(settingName, load)
  return {
    read,
    requireLicense: async () => {
      const { state } = await read()
      if (!allowsConsole(state))
        throw new FleetError('unlicensed', 'license', describeLicenseState(state))
    },
    upload: async ({ role }, text) => {
      if (role !== 'system')
        throw new FleetError('forbidden', 'license', 'a license is for the system administrator')
      if (key === null)
        throw new FleetError(
          'conflict',
          'license',
          'licenses are not checked here: start the coordinator with --license-key first',
        )
      const trimmed = text.trim()
      const license = await verify(trimmed, key)
      if (judge(license, 0).kind === 'expired')
        throw refusal('this license and its grace period have expired; a newer one is needed')
      await writeSetting(store.queries, settingName, trimmed)
      remembered.clear()
      return read()
    },
  }
}

/** Throws FleetError 'invalid'. */
async function verify(text: string, key: KeyObject): Promise<License> {
  if (text.length > maxCharacters)
    throw refusal(`a license has at most ${maxCharacters} characters`)
  let payload: unknown
  try {
    const { alg } = decodeProtectedHeader(text)
    if (alg !== algorithm) throw refusal(`a license is signed with ${algorithm}`)
    const verified = await compactVerify(text, key, { algorithms: [algorithm] })
    payload = JSON.parse(new TextDecoder().decode(verified.payload))
  } catch (error) {
    if (error instanceof FleetError) throw error
    throw refusal(
      'this is not a license; it must be a compact JWS, signed with the key of --license-key',
    )
  }
  const license = readLicense(payload)
  if (typeof license === 'string') throw refusal(`the license cannot be: ${license}`)
  return license
}

function refusal(message: string): FleetError {
  return new FleetError('invalid', 'license', message)
}

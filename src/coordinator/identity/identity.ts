/** The shared dependencies of the login and token routes: service, keys, limits, password hashing, identity providers. */
import { createLoginLimits, type LoginLimits } from './login-limits.js'
import { createPasswords, type Passwords } from './passwords.js'
import { createProviderClient, type ProviderClient } from './provider-client.js'
import { readRefreshKey, sealedPurposes, writeRefreshKey } from './sealed-texts.js'
import type { Sealing } from './sealing.js'
import type { StateService } from '../service.js'
import { openSigningKeys, type SigningKeys } from './signing-keys.js'

export interface Identity {
  readonly service: StateService
  readonly keys: SigningKeys
  /** The MAC key of refresh tokens: distinguishes genuine tokens from forged ones. */
  readonly refreshKey: Buffer
  readonly passwords: Passwords
  readonly limits: LoginLimits
  readonly sealing: Sealing
  /** Identity providers of organizations. */
  readonly providers: ProviderClient
}

export async function openIdentity(service: StateService, sealing: Sealing): Promise<Identity> {
  return {
    service,
    keys: await openSigningKeys(service, sealing),
    refreshKey: await openRefreshKey(service, sealing),
    passwords: createPasswords(),
    limits: createLoginLimits(service, 'users'),
    sealing,
    providers: createProviderClient(service.now),
  }
}

/** Stored sealed, so that a new secret key ends no session. Earlier versions derived the same key and did not store it. */
async function openRefreshKey(
  { store, coordinatorId }: StateService,
  sealing: Sealing,
): Promise<Buffer> {
  const purpose = sealedPurposes.refreshKey
  const sealed =
    (await readRefreshKey(store.queries)) ??
    (await sealing.write(store, async (queries) => {
      const kept = await readRefreshKey(queries)
      if (kept !== undefined) return kept
      const key = sealing.deriveKey(`refresh tokens of ${coordinatorId}`).toString('base64url')
      const made = sealing.seal(key, purpose)
      await writeRefreshKey(queries, made)
      return made
    }))
  return Buffer.from(await sealing.open(sealed, purpose), 'base64url')
}

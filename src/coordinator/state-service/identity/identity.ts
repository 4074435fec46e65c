/** What the calls about logins and tokens need beside the store: keys, limits, the hashing of passwords. */
import { createLoginLimits, type LoginLimits } from './login-limits.js'
import { createPasswords, type Passwords } from './passwords.js'
import { createProviderClient, type ProviderClient } from './provider-client.js'
import type { Sealing } from './sealing.js'
import type { StateService } from '../service.js'
import { openSigningKeys, type SigningKeys } from './signing-keys.js'

export interface Identity {
  readonly service: StateService
  readonly keys: SigningKeys
  /** Makes refresh tokens recognisable. */
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
    refreshKey: sealing.deriveKey(`refresh tokens of ${service.coordinatorId}`),
    passwords: createPasswords(),
    limits: createLoginLimits(service, 'people'),
    sealing,
    providers: createProviderClient(service.now),
  }
}

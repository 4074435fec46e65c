/** Client secrets of identity providers: in the store sealed, open only while a login needs them. */
import type { IdpRecord } from '../../../store/idps.js'
import type { Provider } from './provider-client.js'
import type { Sealing } from './sealing.js'

const purpose = 'client secrets'

export function sealClientSecret(sealing: Sealing, secret: string): string {
  return sealing.seal(secret, purpose)
}

/** Throws FleetError 'unavailable' when another key has sealed it. */
export function openProvider(sealing: Sealing, idp: IdpRecord): Provider {
  const { sealedClientSecret, ...rest } = idp
  const clientSecret =
    sealedClientSecret === null ? null : sealing.open(sealedClientSecret, purpose)
  return { ...rest, clientSecret }
}

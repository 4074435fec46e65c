/** Client secrets of identity providers: sealed in the store, opened only while a login needs them. */
import type { IdpRecord } from './idp-queries.js'
import type { Provider } from './provider-client.js'
import { sealedPurposes } from './sealed-texts.js'
import type { Sealing } from './sealing.js'

const purpose = sealedPurposes.clientSecret

export function sealClientSecret(sealing: Sealing, secret: string): string {
  return sealing.seal(secret, purpose)
}

/** Rejects with FleetError 'unavailable' if the secret was sealed with another key. */
export async function openProvider(sealing: Sealing, idp: IdpRecord): Promise<Provider> {
  const { sealedClientSecret, ...rest } = idp
  const clientSecret =
    sealedClientSecret === null ? null : await sealing.open(sealedClientSecret, purpose)
  return { ...rest, clientSecret }
}

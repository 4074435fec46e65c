/** Explains a wrong address or a certificate problem of a coordinator, if the error itself does not. */
import type { CoordinatorAddress } from './coordinator-http.js'
import { explainTrust } from './explain-trust.js'
import { findWrongScheme } from './wrong-scheme.js'

export async function explainFailure(
  address: CoordinatorAddress,
  error: unknown,
): Promise<string | undefined> {
  const isPinned = (await address.pin?.keepsOne()) ?? false
  return (
    explainTrust(address, error, { isPinned, now: new Date() }) ??
    (await findWrongScheme(address.url, error))
  )
}

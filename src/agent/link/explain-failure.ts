/** What is wrong with a coordinator's address, or with whom the agent trusts there, where the error itself does not say it. */
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

/** Applies the whole desired state to a cache: certificate files, VCL and settings, then the certificates themselves. */
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Certificates } from '../certificates/hold-certificates.js'
import { errorText } from '../engine/engine.js'
import type { WholeOutcome } from './apply-result.js'
import { applyDesired } from './apply-vcl.js'

type Options = Parameters<typeof applyDesired>[0] & { readonly certificates: Certificates }

/** Rejects as `applyDesired` does. A certificate error never fails a VCL, and vice versa. */
export async function applyAll(options: Options): Promise<WholeOutcome> {
  const { certificates, context } = options
  const desired = options.desired.certificates ?? []
  const repaired = await certificates.repairFiles(desired)
  // A child that found a file missing at its start stays stopped until it is started again.
  if (repaired.length > 0) await options.state.change({ startUnfinished: true })
  const outcome = await applyDesired(options)
  try {
    const held = await certificates.apply(context, desired)
    const done = [...repaired, ...outcome.done, ...held.done]
    const states = held.states.length > 0 ? { certificates: held.states } : {}
    return { ...outcome, done, changed: done.length > 0, ...states }
  } catch (error) {
    if (!(error instanceof ManagementPortError)) throw error
    context.log.warn({ why: errorText(error) }, 'certificates could not be applied; trying on')
    const done = [...repaired, ...outcome.done]
    return { ...outcome, done, changed: done.length > 0 }
  }
}

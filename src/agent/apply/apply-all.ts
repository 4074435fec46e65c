/** Makes a cache hold all that is desired: files of certificates, VCL and settings, then the certificates themselves. */
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Certificates } from '../certificates/hold-certificates.js'
import { errorText } from '../engine/engine.js'
import type { WholeOutcome } from './apply-result.js'
import { applyDesired } from './apply-vcl.js'

type Options = Parameters<typeof applyDesired>[0] & { readonly certificates: Certificates }

/** Rejects as `applyDesired`. What is wrong with certificates fails no VCL, and the reverse. */
export async function applyAll(options: Options): Promise<WholeOutcome> {
  const { certificates, context } = options
  const desired = options.desired.certificates ?? []
  const repaired = await certificates.repairFiles(desired)
  // A child that found one missing when it was to start stays stopped until somebody starts it.
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

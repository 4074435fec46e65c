/** A connection to the cache that was lost in the middle of work: a new one is waited for. */
import { pauseFor } from '../../runtime/pause.js'
import type { StepTools } from '../apply/vcl-steps.js'

const returnTimeoutMs = 5_000
const returnPauseMs = 200

/** Answers whether the cache is there again. */
export async function awaitCache(
  { engine }: Pick<StepTools, 'engine'>,
  isSuperseded: () => boolean,
): Promise<boolean> {
  const endAt = performance.now() + returnTimeoutMs
  do await pauseFor(returnPauseMs)
  while (
    engine.error !== null &&
    !engine.isEnding() &&
    performance.now() < endAt &&
    !isSuperseded()
  )
  return engine.error === null
}

/** Waits for a new connection when the connection to the cache is lost during work. */
import { pauseFor } from '../../runtime/pause.js'
import type { StepTools } from '../apply/vcl-steps.js'

const returnTimeoutMs = 5_000
const returnPauseMs = 200

/** Returns true when the cache is connected again. */
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

/** Shared by all event streams: reads their text and decides when to reconnect. */
import { pauseAfter, pickBetween } from '../../runtime/backoff.js'
import { noteAnswer, whenBack } from './connection.js'

const pauses = { firstMs: 500, longestMs: 15_000 }
/** A stream that ended earlier counts as failed. */
export const standsAfterMs = pauses.firstMs
/** Longer than any silence of a healthy coordinator, which sends a comment every 15 s. */
const silenceMostMs = 40_000

/** Yields chunks of the text until the stream ends or is silent for too long. */
export async function* readTexts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    // A lost network connection does not end the stream by itself.
    const late = setTimeout(() => void reader.cancel(), silenceMostMs)
    const { done, value } = await reader.read().finally(() => {
      clearTimeout(late)
    })
    if (done) return
    noteAnswer()
    yield value
  }
}

/** Waits longer after each failure, but no longer than until the coordinator is reachable again. */
export async function pauseAfterFailure(failures: number): Promise<void> {
  const waitMs = pauseAfter(failures, pauses)
  await pauseUntilBack(pickBetween(waitMs / 2, waitMs))
}

/** Waits for this time, or until the coordinator is reachable again. */
function pauseUntilBack(longestMs: number): Promise<void> {
  return new Promise((resume) => {
    const end = (): void => {
      clearTimeout(timer)
      stopWaiting()
      resume()
    }
    const timer = setTimeout(end, longestMs)
    const stopWaiting = whenBack(end)
  })
}

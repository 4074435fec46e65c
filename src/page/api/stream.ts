/** What all streams of events have in common: how their text is read, and when a broken one is taken up again. */
import { pauseAfter, pickBetween } from '../../runtime/backoff.js'
import { noteAnswer, whenBack } from './connection.js'

const pauses = { firstMs: 500, longestMs: 15_000 }
/** One that ended earlier was none. */
export const standsAfterMs = pauses.firstMs
/** Longer than the coordinator is ever silent: it sends a comment every 15 s. */
const silenceMostMs = 40_000

/** Pieces of its text, until it ends or is silent for too long. */
export async function* readTexts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    // A network that is gone ends nothing by itself.
    const late = setTimeout(() => void reader.cancel(), silenceMostMs)
    const { done, value } = await reader.read().finally(() => {
      clearTimeout(late)
    })
    if (done) return
    noteAnswer()
    yield value
  }
}

/** Longer after each failure; at most until the coordinator is back. */
export async function pauseAfterFailure(failures: number): Promise<void> {
  const waitMs = pauseAfter(failures, pauses)
  await pauseUntilBack(pickBetween(waitMs / 2, waitMs))
}

/** For so long, or until the coordinator is back. */
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

/** Follows events until the caller stops: after a broken connection it pauses and resumes after the last event. */
import type { Api } from './api.js'
import { requireFields, type Fields } from './api-shapes.js'
import { CliError, exitCodes } from './cli-error.js'
import { readStreamEvents } from './event-stream.js'
import { pauseAfter, pickBetween } from '../runtime/backoff.js'
import { pauseFor } from '../runtime/pause.js'

export interface ReceivedEvent {
  readonly id: number
  /** The event type, or reset: events were missed and cannot be replayed. */
  readonly event: string
  readonly data: Fields
}

interface Following {
  /** Id of the last event already known; undefined starts with new events. */
  readonly after?: string | undefined
  /** Opt-in event types to include. */
  readonly also?: readonly string[]
  /** Called with a line for the user when the connection is lost for longer, and when it is restored. */
  readonly notify: (line: string) => void
}

const retries = { firstMs: 500, longestMs: 15_000 }

/**
 * Yields undefined each time the stream is established: from then on no event is missed. Throws CliError if the first attempt fails or the
 * coordinator refuses.
 */
export async function* followEvents(
  api: Api,
  { after, also, notify }: Following,
): AsyncGenerator<ReceivedEvent | undefined> {
  const place = { path: pathOf(also), lastId: after ?? '' }
  let [stood, isReported] = [false, false]
  for (let breaks = 0; ; breaks += 1) {
    const pauseMs = pauseAfter(breaks, retries)
    try {
      if (breaks > 0) await pauseFor(pickBetween(pauseMs / 2, pauseMs))
      for await (const received of listenOnce(api, place)) {
        if (isReported) notify('connected again')
        ;[stood, isReported, breaks] = [true, false, 0]
        yield received
      }
    } catch (error) {
      if (!stood || isRefusal(error)) throw error
      // The first break is retried silently.
      if (breaks === 1)
        notify(`${error instanceof Error ? error.message : String(error)}; trying again`)
      isReported ||= breaks === 1
    }
  }
}

function pathOf(also: readonly string[] = []): string {
  return also.length === 0 ? '/events' : `/events?also=${also.join(',')}`
}

/** Reads until the stream ends and advances `lastId`. */
async function* listenOnce(
  api: Api,
  place: { readonly path: string; lastId: string },
): AsyncGenerator<ReceivedEvent | undefined> {
  const headers = place.lastId === '' ? {} : { 'last-event-id': place.lastId }
  const pieces = await api.listen(place.path, headers)
  yield undefined
  for await (const { id, event, data } of readStreamEvents(pieces, place.lastId)) {
    place.lastId = id
    if (event !== undefined) yield { id: Number(id), event, data: requireFields(JSON.parse(data)) }
  }
}

/** True if the coordinator would refuse every retry too. A restart, too many listeners and a lost store are temporary. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof CliError)) return false
  if (error.exitCode === exitCodes.denied || error.exitCode === exitCodes.usage) return true
  const status = error.refusal?.status ?? 0
  return status >= 400 && status < 500 && status !== 429
}

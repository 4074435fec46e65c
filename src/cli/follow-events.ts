/** Follows events for as long as it is wanted: what breaks is taken up again after the last event, with pauses. */
import type { Api } from './api.js'
import { requireFields, type Fields } from './api-shapes.js'
import { CliError, exitCodes } from './cli-error.js'
import { readStreamEvents } from './event-stream.js'
import { pauseAfter, pickBetween } from '../runtime/backoff.js'
import { pauseFor } from '../runtime/pause.js'

export interface ReceivedEvent {
  readonly id: number
  /** Its type, or reset: what was missed is not known. */
  readonly event: string
  readonly data: Fields
}

interface Following {
  /** The last event that is known already; undefined: begin now. */
  readonly after?: string | undefined
  /** Opt-in types. */
  readonly also?: readonly string[]
  /** Called once for each break. */
  readonly notify: (line: string) => void
}

const retries = { firstMs: 500, longestMs: 15_000 }

/**
 * Yields undefined each time the stream stands: from then on nothing is missed. Throws CliError when the first attempt
 * fails, or when the coordinator refuses.
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
      // The first break is mended without a word.
      if (breaks === 1)
        notify(`${error instanceof Error ? error.message : String(error)}; trying again`)
      isReported ||= breaks === 1
    }
  }
}

function pathOf(also: readonly string[] = []): string {
  return also.length === 0 ? '/events' : `/events?also=${also.join(',')}`
}

/** Until the stream ends; moves the place on. */
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

/** The coordinator refuses, and would again. A restart, too many listeners and a lost store are temporary. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof CliError)) return false
  if (error.exitCode === exitCodes.denied || error.exitCode === exitCodes.usage) return true
  const status = error.refusal?.status ?? 0
  return status >= 400 && status < 500 && status !== 429
}

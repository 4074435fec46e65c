/**
 * The recent history of the visible caches, for their sparklines: read once when a row comes to rest in view, a few at a time,
 * then extended with live samples. A bounded number is kept.
 */
import { signal, type Signal } from '@preact/signals'
import { call } from '../../api/call.js'
import type { Sample } from '../../api/live-event.js'
import type { Point } from './sparkline-path.js'

export const spanSeconds = 900
/** The seconds of samples that form one point, as in the finest archive. */
const stepSeconds = 10
/** A history not drawn for longer lacks its end and is read again. */
const oldAfterSeconds = 60
const callsAtOnce = 4
const maxRemembered = 400

interface History {
  readonly points: Signal<readonly Point[]>
  /** When the history was last read or extended, seconds since 1970; 0: never. */
  knownAt: number
  readonly open: { sum: number; count: number; since: number }
}

const histories = new Map<number, History>()

export function readPoints(id: number): Signal<readonly Point[]> {
  return historyOf(id).points
}

/** Loads the histories that are not known yet. */
export async function loadHistories(ids: readonly number[], abort: AbortSignal): Promise<void> {
  const now = Date.now() / 1000
  const waiting = ids.filter((id) => now - historyOf(id).knownAt > oldAfterSeconds)
  const readNext = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined && !abort.aborted; id = waiting.shift())
      await load(id, abort)
  }
  await Promise.all(Array.from({ length: callsAtOnce }, readNext))
}

/** Called every second; `at`: arrival of the sample, seconds since 1970. */
export function addSample({ agent, values }: Sample, at: number): void {
  const history = histories.get(agent.id)
  const value = values['MAIN.client_req']
  if (!history || value == null) return
  const { open, points } = history
  if (open.count === 0) open.since = at
  open.sum += value
  open.count++
  history.knownAt = at
  if (at - open.since < stepSeconds) return
  const kept = points.peek().filter(({ time }) => time > at - spanSeconds)
  points.value = [...kept, { time: at, value: open.sum / open.count }]
  Object.assign(open, { sum: 0, count: 0 })
}

async function load(id: number, abort: AbortSignal): Promise<void> {
  const to = Math.floor(Date.now() / 1000)
  const path = `/agents/${id}/stats/AVERAGE/${to - spanSeconds}/${to}?counters=client_req`
  const outcome = await call<{ readonly stats: readonly { readonly values: readonly Point[] }[] }>(
    'GET',
    path,
    { signal: abort },
  )
  // On failure, the row shows only new samples.
  if (!outcome.ok) return
  const history = historyOf(id)
  history.knownAt = to
  history.points.value = outcome.value.stats[0]?.values ?? []
}

function historyOf(id: number): History {
  const known = histories.get(id)
  const history = known ?? {
    points: signal<readonly Point[]>([]),
    knownAt: 0,
    open: { sum: 0, count: 0, since: 0 },
  }
  // Drops the least recently requested history first.
  histories.delete(id)
  histories.set(id, history)
  for (const oldest of histories.keys()) {
    if (histories.size <= maxRemembered) break
    histories.delete(oldest)
  }
  return history
}

/** The counters of a cache or group over a range; a live one is read again as it moves. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import { rereadAfter, type GraphRange } from './graph-range.js'
import { countersRead, type CounterSeries } from './graphs-shown.js'

export interface ReadSeries {
  readonly series: readonly CounterSeries[]
  /** What was read, seconds since 1970; null: nothing yet. */
  readonly range: { readonly from: number; readonly to: number } | null
  readonly error: CallError | null
}

/** `subject`: `agents/5` or `vclgroups/3`. */
export function useSeries(subject: string, range: GraphRange): ReadSeries {
  const state = useSignal<ReadSeries>(nothing)
  const key = JSON.stringify([subject, range])
  const shownOf = useRef('')
  useLayoutEffect(() => {
    // Another range takes the place of the one before it when it is there; what is of another subject goes at once.
    if (shownOf.current !== subject) state.value = nothing
    shownOf.current = subject
    const abort = new AbortController()
    let next: ReturnType<typeof setTimeout> | undefined
    let isRead = false
    const read = async (): Promise<void> => {
      const shown = toTimes(range)
      // Nobody looks at it: the next reading is enough.
      const found = document.hidden && isRead ? null : await ask(subject, shown, abort)
      if (abort.signal.aborted) return
      if (found) state.value = found.error ? { ...state.peek(), error: found.error } : found
      isRead ||= found?.error === null
      if (range.isLive) next = setTimeout(() => void read(), rereadAfter(range.span.seconds) * 1000)
    }
    void read() // never rejects
    return () => {
      abort.abort()
      clearTimeout(next)
    }
  }, [key])
  return state.value
}

function toTimes(range: GraphRange): { readonly from: number; readonly to: number } {
  if (!range.isLive) return range
  const to = Math.floor(Date.now() / 1000)
  return { from: to - range.span.seconds, to }
}

async function ask(
  subject: string,
  { from, to }: { readonly from: number; readonly to: number },
  { signal }: AbortController,
): Promise<ReadSeries> {
  const words = new URLSearchParams({ counters: countersRead.join(',') })
  const outcome = await call<{ readonly stats: readonly CounterSeries[] }>(
    'GET',
    `/${subject}/stats/AVERAGE/${from}/${to}?${words}`,
    { signal },
  )
  return outcome.ok
    ? { series: outcome.value.stats, range: { from, to }, error: null }
    : { series: [], range: null, error: outcome.error }
}

const nothing: ReadSeries = { series: [], range: null, error: null }

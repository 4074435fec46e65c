/** Requests of one view that are neither lists nor objects: sent once per key, or polled. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { whenBack } from './connection.js'

interface AnswerOptions {
  /** Delay before the request is sent, for a query that the user is typing. */
  readonly delayMs?: number
  /** Polling interval, counted from each answer; polling pauses while the window is hidden. */
  readonly repeatMs?: number | undefined
}

/**
 * Calls `ask` when `key` changes and keeps its answer until the next; `before` is the answer so far. A superseded answer is
 * dropped. `ask` is called again when the coordinator is reachable again. With a null `key` nothing is requested and the answer
 * is `start`.
 */
export function useAnswer<T>(
  key: string | null,
  start: T,
  ask: (signal: AbortSignal, before: T) => Promise<T>,
  { delayMs, repeatMs }: AnswerOptions = {},
): T {
  const state = useSignal(start)
  useEffect(() => {
    if (key === null) {
      state.value = start
      return
    }
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isAsked = false
    const read = async (): Promise<void> => {
      clearTimeout(timer)
      if (!isAsked || !document.hidden) {
        const answer = await ask(abort.signal, state.peek())
        if (abort.signal.aborted) return
        state.value = answer
        isAsked = true
      }
      if (repeatMs !== undefined) timer = setTimeout(() => void read(), repeatMs)
    }
    if (delayMs === undefined) void read()
    else timer = setTimeout(() => void read(), delayMs)
    const stopWaiting = whenBack(() => void read()) // never rejects, as `ask` does not
    return () => {
      abort.abort()
      stopWaiting()
      clearTimeout(timer)
    }
  }, [key])
  return state.value
}

/** What a view asks by itself, beside lists and objects: once for each question, or again and again. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { whenBack } from './connection.js'

interface AnswerOptions {
  /** A pause before it is asked, for a question that is typed. */
  readonly delayMs?: number
  /** Asked again so long after each answer, but not while the window is hidden. */
  readonly repeatMs?: number | undefined
}

/**
 * `ask` is called when `key` changes, and its answer kept until the next; `before`: the answer so far. An answer that is
 * overtaken is dropped, and it is asked again when the coordinator was away and is back. Null: there is nothing to ask, and the
 * answer is `start` again.
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
    const stopWaiting = whenBack(() => void read()) // as `ask`, never rejects
    return () => {
      abort.abort()
      stopWaiting()
      clearTimeout(timer)
    }
  }, [key])
  return state.value
}

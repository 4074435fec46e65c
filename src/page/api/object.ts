/** One object of the API that stays true while it is shown. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { call } from './call.js'
import { isTransient, startRetries, whenBack } from './connection.js'
import type { CallError } from './http.js'
import { subscribeToEvents } from './live.js'
import type { LiveEvent } from './live-event.js'
import type { EventType } from '../../resources/event.js'

export interface LoadedObject<T> {
  /** Null: not read yet, or it cannot be. */
  readonly value: T | null
  /** For `ifMatch` of a change. */
  readonly etag: string | null
  readonly error: CallError | null
  readonly reload: () => void
}

interface ObjectOptions {
  /** Events after which it is read again: of the object with `id`, or any of these types without. */
  readonly follow?: EventType | readonly EventType[]
  readonly id?: number
  /** In place of `id`: whether what an event carries matters; the same for a `path`. */
  readonly concerns?: Concerns
}

type Concerns = (data: LiveEvent['data']) => boolean

/** Crowds of events are one reading. */
const gatherMs = 300

/** A null `path` reads nothing. */
export function useObject<T>(path: string | null, options: ObjectOptions = {}): LoadedObject<T> {
  const { follow = [], id, concerns = id } = options
  const types = typeof follow === 'string' ? [follow] : follow
  const state = useSignal<Omit<LoadedObject<T>, 'reload'>>(nothing)
  const reload = useSignal<() => void>(() => undefined)
  // As a text: the number of a mistyped address is NaN, which is never the same again.
  const key = JSON.stringify([path, follow, id])

  useLayoutEffect(() => {
    state.value = nothing
    if (path === null) return
    const abort = new AbortController()
    let [asked, shown] = [0, 0]
    const read = async (): Promise<void> => {
      const request = ++asked
      const outcome = await call<T>('GET', path, { signal: abort.signal })
      // An answer that was overtaken by a later one is older than what is shown.
      if (abort.signal.aborted || request < shown) return
      shown = request
      state.value = outcome.ok
        ? { value: outcome.value, etag: outcome.etag, error: null }
        : keepShown(state.peek(), outcome.error)
      retries.note(outcome.ok ? null : outcome.error)
    }
    const retries = startRetries(() => void read())
    const isFollowed = types.length > 0
    // What has no events may have changed while the coordinator was away.
    const listen = isFollowed ? (act: () => void) => whenChanged(types, concerns, act) : whenBack
    const stop = listen(() => void read()) // never rejects
    reload.value = () => void read()
    void read()
    return () => {
      abort.abort()
      retries.stop()
      stop()
    }
  }, [key])

  return { ...state.value, reload: reload.value }
}

/** What is shown stays: that the coordinator is away is told once, in the head. */
function keepShown<T>(
  before: Omit<LoadedObject<T>, 'reload'>,
  error: CallError,
): Omit<LoadedObject<T>, 'reload'> {
  return { ...before, error: before.value !== null && isTransient(error) ? null : error }
}

/** After events of the object with this id, of those that it concerns, or of any of these types: crowds of them are one. Answers how to stop. */
export function whenChanged(
  types: readonly EventType[],
  which: number | Concerns | undefined,
  act: () => void,
): () => void {
  let gathering: ReturnType<typeof setTimeout> | undefined
  const stop = subscribeToEvents(types, ({ type, data }) => {
    const isMeant = typeof which === 'number' ? data.id === which : (which?.(data) ?? true)
    if (type !== 'reset' && !isMeant) return
    gathering ??= setTimeout(() => {
      gathering = undefined
      act()
    }, gatherMs)
  })
  return () => {
    stop()
    clearTimeout(gathering)
  }
}

const nothing = { value: null, etag: null, error: null }

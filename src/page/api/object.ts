/** One object of the API, kept up to date while it is shown. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { call } from './call.js'
import { isTransient, startRetries, whenBack } from './connection.js'
import type { CallError } from './http.js'
import { subscribeToEvents } from './live.js'
import type { LiveEvent } from './live-event.js'
import type { EventType } from '../../resources/event.js'

export interface LoadedObject<T> {
  /** Null: not read yet, or unreadable. */
  readonly value: T | null
  /** Used as `ifMatch` of a change. */
  readonly etag: string | null
  readonly error: CallError | null
  readonly reload: () => void
}

interface ObjectOptions {
  /** Event types that trigger another read: events of the object with `id`, or all events if there is no `id`. */
  readonly follow?: EventType | readonly EventType[]
  readonly id?: number
  /** Replaces `id`: decides from an event's data whether it is relevant; must be the same function for a `path`. */
  readonly concerns?: Concerns
}

type Concerns = (data: LiveEvent['data']) => boolean

/** A burst of events triggers one read. */
const gatherMs = 300

/** With a null `path` nothing is read. */
export function useObject<T>(path: string | null, options: ObjectOptions = {}): LoadedObject<T> {
  const { follow = [], id, concerns = id } = options
  const types = typeof follow === 'string' ? [follow] : follow
  const state = useSignal<Omit<LoadedObject<T>, 'reload'>>(nothing)
  const reload = useSignal<() => void>(() => undefined)
  // A string, because the id of a mistyped address is NaN, which never equals itself.
  const key = JSON.stringify([path, follow, id])

  useLayoutEffect(() => {
    state.value = nothing
    if (path === null) return
    const abort = new AbortController()
    let [asked, shown] = [0, 0]
    const read = async (): Promise<void> => {
      const request = ++asked
      const outcome = await call<T>('GET', path, { signal: abort.signal })
      // An answer that a later one has overtaken is older than what is shown.
      if (abort.signal.aborted || request < shown) return
      shown = request
      state.value = outcome.ok
        ? { value: outcome.value, etag: outcome.etag, error: null }
        : keepShown(state.peek(), outcome.error)
      retries.note(outcome.ok ? null : outcome.error)
    }
    const retries = startRetries(() => void read())
    const isFollowed = types.length > 0
    // An object without events may have changed while the coordinator was unreachable.
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

/** The shown value stays: the page head already shows that the coordinator is unreachable. */
function keepShown<T>(
  before: Omit<LoadedObject<T>, 'reload'>,
  error: CallError,
): Omit<LoadedObject<T>, 'reload'> {
  return { ...before, error: before.value !== null && isTransient(error) ? null : error }
}

/** Calls `act` once per burst of events that match the id or the filter, or of any of the types. Returns a function that unsubscribes. */
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

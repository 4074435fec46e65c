/** A list of the API, kept up to date while it is shown: read in pages, then updated by events. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { call } from './call.js'
import { isTransient, startRetries } from './connection.js'
import type { CallError } from './http.js'
import { subscribeToEvents } from './live.js'
import type { LiveEvent } from './live-event.js'
import type { EventType } from '../../resources/event.js'
import { applyEvents, keepRows, type Row } from './rows.js'

export interface ListOptions {
  /** Filters and `sort` of the API. Without filters events are applied to the rows; with filters the list is read again. */
  readonly query?: Readonly<Record<string, string>>
  /** Event types that change the list. */
  readonly follow?: readonly EventType[]
  /** Events carry complete objects of the list (agents, API log entries); otherwise the list is read again. */
  readonly isWhole?: boolean
}

export interface List<T> {
  readonly rows: readonly T[]
  /** Total number of rows, including those beyond `maxRows`. */
  readonly total: number
  readonly phase: 'loading' | 'ready'
  /** The last read failed; `rows` are from before it. */
  readonly error: CallError | null
  readonly reload: () => void
}

const pageRows = 1_000
/** Far more than a user reads; the API's filters find the rest. */
export const maxRows = 20_000
/** Events arrive in bursts; their changes are rendered four times a second. */
const gatherMs = 250
/** Delay before a list is read again after a burst of events. */
const rereadMs = 2_000

/** With a null `path` nothing is read. */
export function useList<T extends Row>(path: string | null, options: ListOptions = {}): List<T> {
  const { query = {}, follow = [], isWhole = false } = options
  const state = useSignal<Omit<List<T>, 'reload'>>(loading)
  const reload = useSignal<() => void>(() => undefined)
  const key = JSON.stringify([path, query, follow, isWhole])

  // In a layout effect, before the paint, so that rows of another list never appear in this one.
  useLayoutEffect(() => {
    state.value = path === null ? none : loading
    if (path === null) return
    const followed = followList<T>(path, { query, follow, isWhole }, (change) => {
      state.value = { ...state.peek(), ...change(state.peek()) }
    })
    reload.value = followed.reload
    return followed.stop
  }, [key])

  return { ...state.value, reload: reload.value }
}

const loading = { rows: [], total: 0, phase: 'loading', error: null } as const
const none = { ...loading, phase: 'ready' } as const

type Change<T> = (before: Pick<List<T>, 'rows' | 'total'>) => Partial<Omit<List<T>, 'reload'>>

function followList<T extends Row>(
  path: string,
  { query, follow, isWhole }: Required<ListOptions>,
  update: (change: Change<T>) => void,
): { readonly reload: () => void; readonly stop: () => void } {
  const abort = new AbortController()
  const isFiltered = Object.keys(query).some((field) => field !== 'sort')
  let waiting: LiveEvent[] = []
  let gathering: ReturnType<typeof setTimeout> | undefined
  let rereading: ReturnType<typeof setTimeout> | undefined
  let isReading = false
  let isReadAgain = false
  const retries = startRetries(() => void read())

  const stopListening = follow.length === 0 ? undefined : subscribeToEvents(follow, gather)
  void read() // never rejects
  return {
    reload: () => void read(),
    stop: () => {
      abort.abort()
      stopListening?.()
      retries.stop()
      clearTimeout(gathering)
      clearTimeout(rereading)
    },
  }

  function gather(event: LiveEvent): void {
    waiting.push(event)
    gathering ??= setTimeout(place, gatherMs)
  }

  function place(): void {
    gathering = undefined
    // Events that arrive during a read are applied after it.
    if (isReading || waiting.length === 0) return
    const events = waiting
    waiting = []
    update(({ rows, total }) => {
      const next = applyEvents(rows, events, isWhole && !isFiltered)
      if (next === null) {
        rereading ??= setTimeout(() => void read(), rereadMs)
        return {}
      }
      const kept = keepRows(next, maxRows, query['sort'] === 'id:desc')
      return { rows: kept, total: total + next.length - rows.length }
    })
  }

  /** One read at a time: of two concurrent reads the later one could be answered first. */
  async function read(): Promise<void> {
    clearTimeout(rereading)
    rereading = undefined
    isReadAgain = isReading
    if (isReading) return
    isReading = true
    const outcome = await readPages<T>(path, query, abort.signal)
    isReading = false
    if (abort.signal.aborted) return
    const { error = null } = outcome
    update(({ rows }) => {
      // Existing rows stay: the page head already shows that the coordinator is unreachable.
      const isShownElsewhere = rows.length > 0 && error !== null && isTransient(error)
      return { phase: 'ready', ...outcome, error: isShownElsewhere ? null : error }
    })
    retries.note(error)
    if (isReadAgain) void read()
    else place()
  }
}

async function readPages<T extends Row>(
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Partial<List<T>>> {
  const rows: T[] = []
  for (;;) {
    const words = new URLSearchParams({ ...query, take: `${pageRows},${rows.length}` })
    const page = await call<readonly T[]>('GET', `${path}?${words}`, { signal })
    if (!page.ok) return { error: page.error }
    rows.push(...page.value)
    const total = page.total ?? rows.length
    if (rows.length >= Math.min(total, maxRows) || page.value.length < pageRows)
      return { rows: withoutTwins(rows), total, error: null }
  }
}

/** An insertion or deletion between two page reads can put the same row in both pages. */
function withoutTwins<T extends Row>(rows: readonly T[]): readonly T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

/** The newest requests of the log while a view shows them. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { LoggedRequest } from '../../../resources/logged-transaction.js'
import { keepLog, type LogPhase } from './read-log.js'

export interface LogLine extends LoggedRequest {
  /** Unique within this view. */
  readonly id: number
}

/** What was read so far. */
interface LogRead {
  /** Newest first. */
  readonly lines: readonly LogLine[]
  /** Lines that the caches or the coordinator dropped. */
  readonly dropped: number
  /** Caches that send no more lines, with the reason. */
  readonly ended: ReadonlyMap<number, string>
}

/** Older lines are dropped. Full records are a hundred times as long. */
const maxLines = { plain: 2_000, detailed: 200 }
/** Lines arrive by the thousand, so they are drawn in batches. */
const gatherMs = 250

const nothing: LogRead = { lines: [], dropped: 0, ended: new Map() }

export interface LogShown extends LogRead {
  readonly phase: LogPhase
  /** The number of lines kept. */
  readonly most: number
}

interface LogOptions {
  /** The parameters of `/logs`. */
  readonly words: string
  /** Filters the requests that were read. */
  readonly isShown: (request: LoggedRequest) => boolean
  /** A new key clears the log and restarts it. */
  readonly key: string
  readonly isPaused: boolean
  /** Reads the full record of each request. */
  readonly isDetailed: boolean
}

/** While paused, nothing is read and the lines stay. */
export function useLog({ words, isShown, key, isPaused, isDetailed }: LogOptions): LogShown {
  const most = isDetailed ? maxLines.detailed : maxLines.plain
  const shown = useSignal(nothing)
  const phase = useSignal<LogPhase>({ kind: 'paused' })
  const lastKey = useRef(key)
  const lastId = useRef(0)

  useLayoutEffect(() => {
    if (key !== lastKey.current) shown.value = nothing
    lastKey.current = key
    phase.value = { kind: isPaused ? 'paused' : 'connecting' }
    if (isPaused) return
    const abort = new AbortController()
    let came: LogLine[] = []
    let gathering: ReturnType<typeof setTimeout> | undefined
    const show = (): void => {
      gathering = undefined
      const { lines } = shown.peek()
      shown.value = { ...shown.peek(), lines: [...came.toReversed(), ...lines].slice(0, most) }
      came = []
    }
    void keepLog(isDetailed ? `${words}&detail=true` : words, abort.signal, {
      onPhase: (next) => {
        phase.value = next
        if (next.kind === 'live') shown.value = { ...shown.peek(), ended: new Map() }
      },
      onRequest: (request) => {
        if (!isShown(request)) return
        came.push({ ...request, id: ++lastId.current })
        // A hidden window draws rarely.
        if (came.length > 2 * most) came = came.slice(-most)
        gathering ??= setTimeout(show, gatherMs)
      },
      onDropped: (count) => {
        shown.value = { ...shown.peek(), dropped: shown.peek().dropped + count }
      },
      onEnded: (agent, reason) => {
        shown.value = { ...shown.peek(), ended: new Map(shown.peek().ended).set(agent, reason) }
      },
    })
    return () => {
      abort.abort()
      clearTimeout(gathering)
      if (came.length > 0) show()
    }
  }, [key, isPaused])

  return { ...shown.value, phase: phase.value, most }
}

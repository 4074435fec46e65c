/**
 * Whether the coordinator answers. Every exchange tells; while it is away one probe asks for it, and what could not be read is
 * read again once it is back (docs/behaviour.md, Page).
 */
import { signal } from '@preact/signals'
import { pauseAfter, pickBetween } from '../../runtime/backoff.js'
import type { CallError } from './http.js'

/** When it answered last, in milliseconds since 1970; null: it is not known to be away. */
export const awaySince = signal<number | null>(null)

/** Says that the process lives; no login, no work for the store. */
const probePath = '/healthz'
const probePauses = { firstMs: 400, longestMs: 5_000 }
/** Of what the coordinator itself refuses for a while. */
const readingPauses = { firstMs: 1_000, longestMs: 15_000 }
/** Proxies answer these for a coordinator that is away. */
const awayStatuses: readonly number[] = [502, 503, 504]

const returning = new Set<() => void>()
let answeredAt = Date.now()
let probing: AbortController | undefined

/** An exchange had an answer, or a piece of the stream came. */
export function noteAnswer(): void {
  answeredAt = Date.now()
  if (!probing) return
  probing.abort()
  probing = undefined
  awaySince.value = null
  for (const act of [...returning]) act()
}

/** An exchange had none: nobody is told before the first probe had none either. */
export function noteSilence(): void {
  if (probing) return
  probing = new AbortController()
  void probe(probing.signal) // never rejects
}

/** Calls `act` each time that the coordinator is back. Answers how to stop. */
export function whenBack(act: () => void): () => void {
  returning.add(act)
  return () => {
    returning.delete(act)
  }
}

/** Of the coordinator, and not of a proxy before it that does not reach it: that one knows no trace ids. */
export function isFromCoordinator(answer: Response): boolean {
  return !awayStatuses.includes(answer.status) || answer.headers.has('x-trace-id')
}

async function probe(signal: AbortSignal): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    const waitMs = pauseAfter(failures, probePauses)
    await new Promise((resume) => setTimeout(resume, pickBetween(waitMs / 2, waitMs)))
    const answer = await fetch(probePath, { signal }).catch(() => null)
    if (probing?.signal !== signal) return
    if (answer && !awayStatuses.includes(answer.status)) noteAnswer()
    else awaySince.value ??= answeredAt
  }
}

export interface Retries {
  /** How the newest reading ended; null: well. */
  readonly note: (error: CallError | null) => void
  readonly stop: () => void
}

/** Reads again by itself what failed only for a while: when the coordinator is back, or is ready to answer it. */
export function startRetries(read: () => void): Retries {
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const stopWaiting = whenBack(() => {
    if (failures > 0) read()
  })
  return {
    note: (error) => {
      clearTimeout(timer)
      const isPassing = error !== null && isTransient(error)
      failures = isPassing ? failures + 1 : 0
      if (!isPassing || error.status === 0) return
      const askedMs = (error.retryAfterSeconds ?? 0) * 1000
      timer = setTimeout(read, Math.max(askedMs, pauseAfter(failures, readingPauses)))
    },
    stop: () => {
      clearTimeout(timer)
      stopWaiting()
    },
  }
}

/** Nothing is wrong with what was asked: there was no answer (0), too many ask, or something behind it is away. */
export function isTransient({ status }: CallError): boolean {
  return status === 0 || status === 429 || awayStatuses.includes(status)
}

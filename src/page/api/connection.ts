/**
 * Tracks whether the coordinator is reachable. Every exchange updates it; during an outage one probe polls the coordinator, and
 * failed reads are repeated once it is back (docs/behaviour.md, Page).
 */
import { signal } from '@preact/signals'
import { pauseAfter, pickBetween } from '../../runtime/backoff.js'
import type { CallError } from './http.js'

/** Time of the last answer, in milliseconds since 1970; null: no outage is known. */
export const awaySince = signal<number | null>(null)

/** Reports that the process is alive; needs no login and no access to the store. */
const probePath = '/healthz'
const probePauses = { firstMs: 400, longestMs: 5_000 }
/** For reads that the coordinator itself refuses temporarily. */
const readingPauses = { firstMs: 1_000, longestMs: 15_000 }
/** Status codes with which a proxy answers for an unreachable coordinator. */
const awayStatuses: readonly number[] = [502, 503, 504]

const returning = new Set<() => void>()
let answeredAt = Date.now()
let probing: AbortController | undefined

/** Called when an exchange was answered or a chunk of the stream arrived. */
export function noteAnswer(): void {
  answeredAt = Date.now()
  if (!probing) return
  probing.abort()
  probing = undefined
  awaySince.value = null
  for (const act of [...returning]) act()
}

/** Called when an exchange got no answer. The outage is shown only after the first probe has failed too. */
export function noteSilence(): void {
  if (probing) return
  probing = new AbortController()
  void probe(probing.signal) // never rejects
}

/** Calls `act` each time the coordinator is reachable again. Returns a function that unsubscribes. */
export function whenBack(act: () => void): () => void {
  returning.add(act)
  return () => {
    returning.delete(act)
  }
}

/** False for the response of a proxy that cannot reach the coordinator: a proxy sends no trace id. */
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
  /** Records how the last read ended; null: it succeeded. */
  readonly note: (error: CallError | null) => void
  readonly stop: () => void
}

/** Repeats reads that failed temporarily: when the coordinator is reachable again, or after a backoff and its `Retry-After`. */
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

/** True if the request itself is valid: no answer (0), too many requests, or the coordinator or a service behind it is unavailable. */
export function isTransient({ status }: CallError): boolean {
  return status === 0 || status === 429 || awayStatuses.includes(status)
}

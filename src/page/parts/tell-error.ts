/** What became of something whose place on the page is gone by now; of an error with the trace id to look it up by. */
import type { CallError, Outcome } from '../api/http.js'
import { copyText } from './copy.js'
import { offer, toast } from './toasts.js'

export function tellError({ errorMsg, traceId }: CallError): void {
  const copy = { title: 'Copy the trace id', act: () => void copyText(traceId) } // never rejects
  offer(errorMsg, traceId === '' ? null : copy)
}

export function tellOutcome(outcome: Outcome<unknown>, done: string): void {
  if (outcome.ok) toast(done)
  else tellError(outcome.error)
}

/** Reports the outcome of an action whose place on the page is gone; an error with its trace id. */
import type { CallError, Outcome } from '../api/http.js'
import { copyText } from './copy.js'
import { startSentence } from './start-sentence.js'
import { offer, toast } from './toasts.js'

export function notifyError({ errorMsg, traceId }: CallError): void {
  const copy = { title: 'Copy the trace id', act: () => void copyText(traceId) } // never rejects
  offer(startSentence(errorMsg), traceId === '' ? null : copy)
}

export function notifyOutcome(outcome: Outcome<unknown>, done: string): void {
  if (outcome.ok) toast(done)
  else notifyError(outcome.error)
}

/** Why something did not work whose place on the page is gone by now; with the trace id to look it up by. */
import type { CallError } from '../api/http.js'
import { copyText } from './copy.js'
import { offer } from './toasts.js'

export function tellError({ errorMsg, traceId }: CallError): void {
  const copy = { title: 'Copy the trace id', act: () => void copyText(traceId) } // never rejects
  offer(errorMsg, traceId === '' ? null : copy)
}

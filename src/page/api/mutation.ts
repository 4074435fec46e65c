/** A change made by the user: one at a time; its error stays until the next attempt. */
import { useSignal } from '@preact/signals'
import type { CallError, Outcome } from './http.js'

export interface Mutation {
  readonly isBusy: boolean
  readonly error: CallError | null
  /** Does nothing while another change is in progress. Never rejects. */
  readonly run: <T>(
    work: () => Promise<Outcome<T>>,
    then?: (value: T, etag: string | null) => void,
  ) => Promise<void>
  readonly forget: () => void
}

export function useMutation(): Mutation {
  const isBusy = useSignal(false)
  const error = useSignal<CallError | null>(null)
  return {
    isBusy: isBusy.value,
    error: error.value,
    run: async (work, then) => {
      if (isBusy.peek()) return
      isBusy.value = true
      error.value = null
      const outcome = await work()
      isBusy.value = false
      if (outcome.ok) then?.(outcome.value, outcome.etag)
      else error.value = outcome.error
    },
    forget: () => {
      error.value = null
    },
  }
}

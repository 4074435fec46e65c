/** What the API says of an invalidation while it is written: whom it would reach, its warnings, what is wrong with it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { InvalidationPreview } from '../../api/invalidation.js'
import type { InvalidationBody } from './compose-invalidation.js'

export interface Preview {
  readonly value: InvalidationPreview | null
  readonly error: CallError | null
}

/** Chosen by us: a pause in typing. */
const pauseMs = 500

export function usePreview(body: InvalidationBody | null): Preview {
  const state = useSignal<Preview>(nothing)
  const key = JSON.stringify(body)
  useEffect(() => {
    if (body === null) {
      state.value = nothing
      return
    }
    const abort = new AbortController()
    const look = async (): Promise<void> => {
      const outcome = await askPreview(body, abort.signal)
      if (abort.signal.aborted) return
      state.value = outcome.ok
        ? { value: outcome.value, error: null }
        : { value: null, error: outcome.error }
    }
    const pause = setTimeout(() => void look(), pauseMs) // never rejects
    return () => {
      clearTimeout(pause)
      abort.abort()
    }
  }, [key])
  return state.value
}

export function askPreview(body: InvalidationBody, signal?: AbortSignal) {
  return call<InvalidationPreview>('POST', '/invalidations/preview', {
    body,
    ...(signal ? { signal } : {}),
  })
}

const nothing: Preview = { value: null, error: null }

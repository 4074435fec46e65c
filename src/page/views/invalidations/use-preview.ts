/** What the API says of an invalidation while it is written: whom it would reach, its warnings, what is wrong with it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { InvalidationPreview } from '../../../resources/invalidation.js'
import type { InvalidationBody } from './compose-invalidation.js'

export interface Preview {
  readonly value: InvalidationPreview | null
  readonly error: CallError | null
  /** False: it is of what was written before. */
  readonly isCurrent: boolean
}

/** Chosen by us: a pause in typing. */
const pauseMs = 500

export function usePreview(body: InvalidationBody | null): Preview {
  const state = useSignal<Omit<Preview, 'isCurrent'> & { readonly key: string }>(nothing)
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
        ? { key, value: outcome.value, error: null }
        : { key, value: null, error: outcome.error }
    }
    const pause = setTimeout(() => void look(), pauseMs) // never rejects
    return () => {
      clearTimeout(pause)
      abort.abort()
    }
  }, [key])
  const { value, error } = state.value
  return { value, error, isCurrent: state.value.key === key }
}

export function askPreview(body: InvalidationBody, signal?: AbortSignal) {
  return call<InvalidationPreview>('POST', '/invalidations/preview', {
    body,
    ...(signal ? { signal } : {}),
  })
}

const nothing = { key: '', value: null, error: null }

/** The preview of an invalidation while it is edited: the affected caches, warnings and errors. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { InvalidationPreview } from '../../../resources/invalidation.js'
import type { InvalidationBody } from './compose-invalidation.js'

export interface Preview {
  readonly value: InvalidationPreview | null
  readonly error: CallError | null
  /** False: the preview belongs to an earlier state of the form. */
  readonly isCurrent: boolean
}

/** A pause in typing. */
const delayMs = 500

export function usePreview(body: InvalidationBody | null): Preview {
  const key = body && JSON.stringify(body)
  const ask = async (signal: AbortSignal): Promise<Answer> => {
    if (body === null) return nothing
    const outcome = await askPreview(body, signal)
    return outcome.ok
      ? { key, value: outcome.value, error: null }
      : { key, value: null, error: outcome.error }
  }
  const { value, error, key: answered } = useAnswer(key, nothing, ask, { delayMs })
  return { value, error, isCurrent: answered === key }
}

interface Answer extends Omit<Preview, 'isCurrent'> {
  /** Identifies the request. */
  readonly key: string | null
}

export function askPreview(body: InvalidationBody, signal?: AbortSignal) {
  return call<InvalidationPreview>('POST', '/invalidations/preview', {
    body,
    ...(signal ? { signal } : {}),
  })
}

const nothing: Answer = { key: '', value: null, error: null }

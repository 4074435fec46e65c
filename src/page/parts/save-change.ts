/** Saves a change and offers to undo it. Neither overwrites a change that someone else made meanwhile. */
import { call } from '../api/call.js'
import type { Mutation } from '../api/mutation.js'
import { notifyError } from './notify.js'
import { toast } from './toasts.js'

export interface Saved {
  /** Path in the API. */
  readonly path: string
  /** The previous fields; null: no call can restore them. */
  readonly before: object | null
  /** ETag after the change; if omitted, the undo overwrites later changes. */
  readonly etag?: string | null
  /** Called after the change and after its undo. */
  readonly then: () => void
}

export interface Change extends Omit<Saved, 'etag'> {
  readonly after: object
  /** ETag of the object as it was read; the API answers 412 if it has changed since. */
  readonly etag: string | null
  /** Called after the change only. */
  readonly close?: () => void
}

export function saveChange(
  mutation: Mutation,
  { after, etag, close, ...saved }: Change,
): Promise<void> {
  return mutation.run(
    () => call('PUT', saved.path, { body: after, ifMatch: etag }),
    (_, changed) => {
      close?.()
      notifySaved({ ...saved, etag: changed })
    },
  )
}

export function notifySaved({ path, before, etag = null, then }: Saved): void {
  const undo = async (): Promise<void> => {
    const outcome = await call('PUT', path, { body: before, ifMatch: etag })
    if (outcome.ok) toast('Undone.')
    else if (outcome.error.status === 412) toast('Not undone: somebody has changed it since.')
    else notifyError(outcome.error)
    then()
  }
  toast('Saved.', before === null ? {} : { undo: () => void undo() }) // never rejects
  then()
}

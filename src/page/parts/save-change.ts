/** Changes an object, and offers an undo. Neither overwrites what somebody else changed meanwhile. */
import { call } from '../api/call.js'
import type { Mutation } from '../api/mutation.js'
import { notifyError } from './notify.js'
import { toast } from './toasts.js'

export interface Saved {
  /** Of the API. */
  readonly path: string
  /** The fields as they were; null: no call brings them back. */
  readonly before: object | null
  /** Of the object as it was changed; left out: the undo overwrites later changes. */
  readonly etag?: string | null
  /** After the change, and after it was undone. */
  readonly then: () => void
}

export interface Change extends Omit<Saved, 'etag'> {
  readonly after: object
  /** Of what was read: 412 when somebody changed it since. */
  readonly etag: string | null
  /** After the change only. */
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

/** Changes an object, and offers to put back what was. */
import { call } from '../api/call.js'
import type { Deed } from '../api/deed.js'
import { toast } from './toasts.js'

export interface Saved {
  /** Of the API. */
  readonly path: string
  /** The fields as they were. */
  readonly before: object
  /** After the change, and after it was undone. */
  readonly then: () => void
}

export interface Change extends Saved {
  readonly after: object
  /** Of what was read: 412 when somebody changed it since. */
  readonly etag: string | null
}

export function saveChange(deed: Deed, { after, etag, ...saved }: Change): Promise<void> {
  return deed.run(
    () => call('PUT', saved.path, { body: after, ifMatch: etag }),
    () => {
      tellSaved(saved)
    },
  )
}

export function tellSaved({ path, before, then }: Saved): void {
  const undo = async (): Promise<void> => {
    const outcome = await call('PUT', path, { body: before })
    toast(outcome.ok ? 'It is as it was.' : outcome.error.errorMsg)
    then()
  }
  toast('Saved.', { undo: () => void undo() })
  then()
}

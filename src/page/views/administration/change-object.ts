/** What the views of the administration do to objects: save with a way back, delete after a question. */
import { call } from '../../api/call.js'
import { useDeed, type Deed } from '../../api/deed.js'
import { confirmDestruction, type Question } from '../../parts/confirm.js'
import { toast } from '../../parts/toasts.js'

export interface Saving {
  /** Of the resource: `/accounts`. */
  readonly path: string
  /** As it was read; null: a new one. */
  readonly before: { readonly id: number } | null
  readonly body: object
  /** What undo puts back; null: it cannot be undone. Left out: all of `before`. */
  readonly undoBody?: object | null
}

/** Makes the object, or changes it and offers to change it back. */
export function saveObject(deed: Deed, saving: Saving, then: () => void): Promise<void> {
  const { path, before, body, undoBody = before } = saving
  if (before === null)
    return deed.run(
      () => call('POST', path, { body }),
      () => {
        toast('Made.')
        then()
      },
    )
  const place = `${path}/${before.id}`
  const putBack = async (): Promise<void> => {
    const outcome = await call('PUT', place, { body: undoBody })
    toast(outcome.ok ? 'As it was before.' : outcome.error.errorMsg)
    then()
  }
  return deed.run(
    () => call('PUT', place, { body }),
    () => {
      // It never rejects.
      toast('Saved.', undoBody === null ? {} : { undo: () => void putBack() })
      then()
    },
  )
}

export interface Removal {
  readonly deed: Deed
  /** Asks first. */
  readonly remove: (question: Question, path: string, done: string) => Promise<void>
}

export function useRemoval(then: () => void): Removal {
  const deed = useDeed()
  return {
    deed,
    remove: async (question, path, done) => {
      if (!(await confirmDestruction(question))) return
      await deed.run(
        () => call('DELETE', path),
        () => {
          toast(done)
          then()
        },
      )
    },
  }
}

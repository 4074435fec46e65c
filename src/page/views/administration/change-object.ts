/** What the views of the administration do to objects: save with a way back, delete after a question. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed, type Deed } from '../../api/deed.js'
import { confirmDestruction, type Question } from '../../parts/confirm.js'
import { focusView } from '../../parts/focus-view.js'
import { saveChange } from '../../parts/save-change.js'
import { toast } from '../../parts/toasts.js'
import type { Was } from './object-dialog.js'

export interface Saving {
  /** Of the resource: `/accounts`. */
  readonly path: string
  /** As it was read; null: a new one. */
  readonly was: Was<{ readonly id: number }> | null
  readonly body: object
  /** What undo puts back; null: it cannot be undone. Left out: all that was read. */
  readonly undoBody?: object | null
  /** After it was made, changed or put back. */
  readonly then: () => void
  /** After it was made or changed. */
  readonly close: () => void
}

/** Makes the object, or changes it and offers to change it back. */
export function saveObject(deed: Deed, saving: Saving): Promise<void> {
  const { path, was, body, then, close } = saving
  if (was === null)
    return deed.run(
      () => call('POST', path, { body }),
      () => {
        toast('Made.')
        close()
        then()
      },
    )
  const { value, etag } = was
  const { undoBody: before = value } = saving
  return saveChange(deed, {
    ...{ path: `${path}/${value.id}`, before, after: body, etag, then, close },
  })
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
          // Its button goes with it.
          focusView()
          then()
        },
      )
    },
  }
}

export interface Edited<T> {
  readonly edit: (one: T) => void
  readonly makeNew: () => void
  /** For the dialog; `before` null: a new one. Null: none is open. */
  readonly asked: { readonly before: T | null; readonly onClose: () => void } | null
}

/** Which object of a list is changed or made in a dialog. */
export function useEdited<T>(): Edited<T> {
  const edited = useSignal<{ readonly before: T | null } | null>(null)
  const onClose = (): void => {
    edited.value = null
  }
  return {
    edit: (before) => {
      edited.value = { before }
    },
    makeNew: () => {
      edited.value = { before: null }
    },
    asked: edited.value && { ...edited.value, onClose },
  }
}

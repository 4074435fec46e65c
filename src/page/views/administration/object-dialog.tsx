/**
 * The dialog that makes an object of a list or changes one. That one is read anew: what the list shows may be old, and with
 * the ETag of what was read no save undoes somebody else's.
 */
import { Fragment, type ComponentChildren } from 'preact'
import { useObject } from '../../api/object.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'

/** An object as it was when its form was filled. */
export interface Was<T> {
  readonly value: T
  readonly etag: string | null
  /** Fills the form with what is there now. */
  readonly readAgain: () => void
}

export interface ObjectDialogProps<T> {
  readonly title: string
  /** Of the resource: `/accounts`. */
  readonly path: string
  /** Null: a new one. */
  readonly id: number | null
  readonly onClose: () => void
  readonly children: (was: Was<T> | null) => ComponentChildren
}

export function ObjectDialog<T>({ title, path, id, onClose, children }: ObjectDialogProps<T>) {
  const { value, etag, error, reload } = useObject<T>(id === null ? null : `${path}/${id}`)
  // A dialog that is empty at first would jump.
  if (id !== null && value === null && !error) return <Loading />
  return (
    <Dialog title={title} onClose={onClose}>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {id === null && children(null)}
      {value !== null && (
        <Fragment key={etag}>{children({ value, etag, readAgain: reload })}</Fragment>
      )}
    </Dialog>
  )
}

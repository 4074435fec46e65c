/**
 * The dialog that makes an object of a list or changes one. That one is read anew: what the list shows may be old, and with
 * the ETag of what was read no save undoes somebody else's.
 */
import { Fragment, type ComponentChildren } from 'preact'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import { useObject } from '../../api/object.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Form } from '../../parts/form.js'
import { TextInputs, type TextInputsProps } from '../../parts/inputs.js'
import type { Asked } from '../../parts/list-view.js'
import { Loading } from '../../parts/loading.js'
import { saveChange } from '../../parts/save-change.js'
import { toast } from '../../parts/toasts.js'

/** One object while it is made or changed. */
export interface Edit<T> {
  /** Of the resource: `/accounts`. */
  readonly path: string
  /** As it was when the form was filled; null: a new one. */
  readonly was: { readonly value: T; readonly etag: string | null } | null
  /** Fills the form with what is there now. */
  readonly readAgain: () => void
  readonly onSaved: () => void
  readonly onClose: () => void
}

interface EditDialogProps<T> extends Asked<T> {
  readonly title: string
  readonly path: string
  readonly children: (edit: Edit<T>) => ComponentChildren
}

export function EditDialog<T extends { readonly id: number }>(props: EditDialogProps<T>) {
  const { title, path, before, onSaved, onClose, children } = props
  const { value, etag, error, reload } = useObject<T>(before && `${path}/${before.id}`)
  // A dialog that is empty at first would jump.
  if (before && value === null && !error) return <Loading />
  const edit = { path, readAgain: reload, onSaved, onClose }
  return (
    <Dialog title={title} onClose={onClose}>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {!before && children({ ...edit, was: null })}
      {value !== null && (
        <Fragment key={etag}>{children({ ...edit, was: { value, etag } })}</Fragment>
      )}
    </Dialog>
  )
}

interface EditFormProps<T, Name extends string> extends Omit<
  TextInputsProps<Name>,
  'of' | 'error'
> {
  readonly edit: Edit<T>
  readonly inputs: TextInputsProps<Name>['of']
  readonly toBody: () => object
  /** What undo puts back; null: it cannot be undone. Left out: all that was read. */
  readonly toUndoBody?: () => object | null
  /** Above the inputs. */
  readonly first?: ComponentChildren
  /** Below them. */
  readonly children?: ComponentChildren
}

/** Makes the object, or changes it and offers to change it back. */
export function EditForm<T extends { readonly id: number }, Name extends string>(
  props: EditFormProps<T, Name>,
) {
  const { edit, inputs, toBody, toUndoBody, first, children, ...rest } = props
  const { path, was, readAgain, onSaved, onClose } = edit
  const deed = useDeed()
  const save = (): Promise<void> => {
    const body = toBody()
    if (was === null)
      return deed.run(
        () => call('POST', path, { body }),
        () => {
          toast('Made.')
          onClose()
          onSaved()
        },
      )
    const before = toUndoBody ? toUndoBody() : was.value
    const change = { before, after: body, etag: was.etag, then: onSaved, close: onClose }
    return saveChange(deed, { path: `${path}/${was.value.id}`, ...change })
  }
  return (
    <Form
      deed={deed}
      verb={was ? 'Save' : 'Make'}
      names={Object.keys(inputs)}
      onSubmit={() => void save()} // never rejects
      onCancel={onClose}
      onReadAgain={was ? readAgain : undefined}
    >
      {first}
      <TextInputs of={inputs} error={deed.error} {...rest} />
      {children}
    </Form>
  )
}

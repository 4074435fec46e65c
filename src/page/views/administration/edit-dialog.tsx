/**
 * The dialog that creates or changes an object of a list, built from inputs as data. The object is read again, because the list
 * may be outdated; its ETag prevents overwriting another user's change.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { useObject } from '../../api/object.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Form } from '../../parts/form.js'
import { Inputs, useInputForm, type FormInputs, type Values } from '../../parts/input-form.js'
import type { EditRequest } from '../../parts/list-view.js'
import { Loading } from '../../parts/loading.js'
import { saveChange } from '../../parts/save-change.js'
import { toast } from '../../parts/toasts.js'

/** Parts of the form besides its inputs. */
export interface FormExtras {
  /** Placed above the inputs. */
  readonly first?: ComponentChildren
  /** Placed below the inputs and above the check boxes. */
  readonly last?: ComponentChildren
  /** Converts the form values to the request body. */
  readonly toBody?: (body: Values) => object
  /** False: no call can restore the previous state. */
  readonly mayUndo?: (body: Values) => boolean
}

/** Properties shared by all objects of a list. */
export interface EditKind<T> {
  readonly titleOf: (before: T | null) => string
  /** Label of the create button; defaults to "Create". */
  readonly verb?: string
  readonly inputs: (isNew: boolean) => FormInputs
  /** Initial values of a new object. */
  readonly blank?: object
  /** `was`: null for a new object. */
  readonly useExtras?: (was: T | null) => FormExtras
  /** The inputs do not take the focus at first. */
  readonly isUnfocused?: boolean
  /** Shown once in place of the form: data that only the response to the POST contains. */
  readonly showCreated?: (created: never, onClose: () => void) => ComponentChildren
}

interface EditDialogProps<T> extends EditRequest<T> {
  readonly kind: EditKind<T>
  /** Path of the resource: `/accounts`. */
  readonly path: string
}

export function EditDialog<T extends { readonly id: number }>(props: EditDialogProps<T>) {
  const { kind, path, before, onClose } = props
  const { value, etag, error, reload } = useObject<T>(before && `${path}/${before.id}`)
  const created = useSignal<unknown>(null)
  // A dialog that opens empty would change its size.
  if (before && value === null && !error) return <Loading />
  if (created.value !== null && kind.showCreated)
    return kind.showCreated(created.value as never, onClose)
  const onCreated = (answer: unknown): void => {
    created.value = answer
  }
  return (
    <Dialog title={kind.titleOf(before)} onClose={onClose}>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {(value !== null || before === null) && (
        <EditForm
          key={etag}
          {...props}
          was={value}
          etag={etag}
          onCreated={onCreated}
          onReadAgain={reload}
        />
      )}
    </Dialog>
  )
}

interface EditFormProps<T> extends EditDialogProps<T> {
  /** The object with which the form was filled; null: a new one. */
  readonly was: T | null
  readonly etag: string | null
  readonly onCreated: (answer: unknown) => void
  /** Fills the form with the current values. */
  readonly onReadAgain: () => void
}

/** Creates the object, or changes it and offers an undo. */
function EditForm<T extends { readonly id: number }>(props: EditFormProps<T>) {
  const { kind, path, was, etag, onCreated, onReadAgain, onSaved, onClose } = props
  const { verb = 'Create', inputs, blank = {}, useExtras = useNothing, isUnfocused = false } = kind
  const mutation = useMutation()
  const form = useInputForm(inputs(was === null), was ?? blank)
  const { first, last, toBody = asWritten, mayUndo = always } = useExtras(was)
  const make = (body: object): Promise<void> =>
    mutation.run(
      () => call('POST', path, { body }),
      (answer) => {
        if (kind.showCreated) onCreated(answer)
        else {
          toast('Created.')
          onClose()
        }
        onSaved()
      },
    )
  const save = (): Promise<void> => {
    const written = form.read()
    const body = toBody(written)
    if (was === null) return make(body)
    const before = mayUndo(written) ? was : null
    const change = { before, after: body, etag, then: onSaved, close: onClose }
    return saveChange(mutation, { path: `${path}/${was.id}`, ...change })
  }
  return (
    <Form
      mutation={mutation}
      verb={was ? 'Save' : verb}
      names={form.names}
      onSubmit={() => void save()} // never rejects
      onCancel={onClose}
      onReadAgain={was ? onReadAgain : undefined}
    >
      {first}
      <Inputs form={form} error={mutation.error} isFocused={!isUnfocused}>
        {last}
      </Inputs>
    </Form>
  )
}

function useNothing(): FormExtras {
  return {}
}

function asWritten(body: Values): object {
  return body
}

function always(): boolean {
  return true
}

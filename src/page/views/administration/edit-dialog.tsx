/**
 * The dialog that makes an object of a list or changes one, from its inputs as data. The object is read again: the list
 * may be old, and with the ETag of what was read no save overwrites somebody else's.
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

/** What the form has beside its inputs. */
export interface FormExtras {
  /** Above the inputs. */
  readonly first?: ComponentChildren
  /** Below them, above the check boxes. */
  readonly last?: ComponentChildren
  /** From what the inputs say to what is sent. */
  readonly toBody?: (body: Values) => object
  /** False: no call brings back what was. */
  readonly mayUndo?: (body: Values) => boolean
}

/** What is the same of all objects of a list. */
export interface EditKind<T> {
  readonly titleOf: (before: T | null) => string
  /** Of the button that makes one; "Create" unless given. */
  readonly verb?: string
  readonly inputs: (isNew: boolean) => FormInputs
  /** What a new one begins with. */
  readonly blank?: object
  /** `was`: null for a new one. */
  readonly useExtras?: (was: T | null) => FormExtras
  /** The focus is not theirs at first. */
  readonly isUnfocused?: boolean
  /** Shown once, in place of the form: what only the answer to the POST contains. */
  readonly showCreated?: (created: never, onClose: () => void) => ComponentChildren
}

interface EditDialogProps<T> extends EditRequest<T> {
  readonly kind: EditKind<T>
  /** Of the resource: `/accounts`. */
  readonly path: string
}

export function EditDialog<T extends { readonly id: number }>(props: EditDialogProps<T>) {
  const { kind, path, before, onClose } = props
  const { value, etag, error, reload } = useObject<T>(before && `${path}/${before.id}`)
  const created = useSignal<unknown>(null)
  // A dialog that is empty at first would jump.
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
  /** As it was when the form was filled; null: a new one. */
  readonly was: T | null
  readonly etag: string | null
  readonly onCreated: (answer: unknown) => void
  /** Fills the form with what is there now. */
  readonly onReadAgain: () => void
}

/** Makes the object, or changes it and offers to change it back. */
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

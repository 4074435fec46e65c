/** The view of an object that is identified by one word and has only plain fields: tags, domains. */
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { EventType } from '../../resources/event.js'
import { plainFields, type Resource } from '../../resources/resource.js'
import { call } from '../api/call.js'
import { useMutation, type Mutation } from '../api/mutation.js'
import { useObject } from '../api/object.js'
import { mayWrite } from '../session/rights.js'
import { Dialog } from './dialog.js'
import { Facts } from './facts.js'
import { Form } from './form.js'
import { ObjectActions } from './object-actions.js'
import { Inputs, type InputForm } from './input-form.js'
import { listPlainFacts, usePlainForm } from './plain-fields.js'
import { Owner, type Owned } from './owner.js'
import { saveChange } from './save-change.js'
import { LoadStatus } from './load-status.js'
import { useDialog } from './use-dialog.js'
import { useDelete } from './use-delete.js'
import { ViewHead } from './view-head.js'

/** Properties shared by all objects of one kind. */
export interface NamedKind {
  readonly resource: Resource & { readonly event: EventType }
  /** Title of its list. */
  readonly title: string
  readonly hint: string
}

interface NamedObjectProps<T extends Owned> {
  readonly kind: NamedKind
  readonly id: string
  readonly wordOf: (object: T) => string
  /** True if the object can be changed at all by a user with the permission. */
  readonly isOpen: (object: T) => boolean
  /** What is deleted along with it. */
  readonly loss: string
  /** Links to related views, placed before the buttons. */
  readonly links?: (object: T) => ComponentChildren
  readonly children: (object: T) => ComponentChildren
}

export function NamedObject<T extends Owned>(props: NamedObjectProps<T>) {
  const { kind, id, wordOf, isOpen, loss, links, children } = props
  const { noun, permission, event, path: home } = kind.resource
  const path = `${home}/${id}`
  const shown = useObject<T>(path, { follow: event, id: Number(id) })
  const editing = useDialog<Begun>()
  const deletion = useDelete()
  const { value } = shown
  return (
    <>
      <ViewHead
        title={value ? wordOf(value) : noun}
        beside={value && <Owner of={value} />}
        back={{ href: home, title: kind.title }}
      >
        {value && links?.(value)}
        {value && mayWrite(permission) && isOpen(value) && (
          <ObjectActions
            verb={verbOf(kind)}
            isDeleting={deletion.isBusy}
            onEdit={() => {
              editing.open({ object: value, etag: shown.etag })
            }}
            onDelete={() =>
              void deletion.ask({ path, noun, name: wordOf(value), text: loss, home })
            }
          />
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={deletion} />
      {value && !hasNameOnly(kind) && <Facts of={listPlainFacts(value, kind.resource)} />}
      {value && children(value)}
      {editing.subject && (
        <Change
          kind={kind}
          path={path}
          begun={editing.subject}
          onSaved={shown.reload}
          onClose={editing.close}
        />
      )}
    </>
  )
}

/** The object when the dialog opened: the ETag prevents overwriting what others save meanwhile. */
interface Begun {
  readonly object: object
  readonly etag: string | null
}

interface ChangeProps {
  readonly kind: NamedKind
  readonly path: string
  readonly begun: Begun
  readonly onSaved: () => void
  readonly onClose: () => void
}

function Change({ kind, path, begun: { object, etag }, onSaved, onClose }: ChangeProps) {
  const mutation = useMutation()
  const form = usePlainForm(kind.resource, object, kind)
  // Read once: undo restores the values from before, not what is in the inputs now.
  const before = useMemo(form.read, [])
  const save = (): void => {
    const fields = { before, after: form.read() }
    void saveChange(mutation, { path, ...fields, etag, then: onSaved, close: onClose })
  }
  const title = `${verbOf(kind)} ${kind.resource.noun}`
  return (
    <FormDialog
      title={title}
      verb="Save"
      form={form}
      mutation={mutation}
      onClose={onClose}
      onSave={save}
    />
  )
}

/** Asks for the fields, creates the object and opens it. */
export function NewNamed({
  kind,
  onClose,
}: {
  readonly kind: NamedKind
  readonly onClose: () => void
}) {
  const { noun, path } = kind.resource
  const mutation = useMutation()
  const form = usePlainForm(kind.resource, null, kind)
  const [, go] = useLocation()
  const make = (): void => {
    void mutation.run(
      () => call<{ readonly id: number }>('POST', path, { body: form.read() }),
      ({ id }) => {
        go(`${path}/${id}`)
      },
    )
  }
  return (
    <FormDialog
      title={`New ${noun}`}
      verb="Create"
      form={form}
      mutation={mutation}
      onClose={onClose}
      onSave={make}
    />
  )
}

interface FormDialogProps {
  readonly title: string
  readonly verb: string
  readonly form: InputForm
  readonly mutation: Mutation
  readonly onSave: () => void
  readonly onClose: () => void
}

function FormDialog({ title, verb, form, mutation, onSave, onClose }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form mutation={mutation} verb={verb} names={form.names} onCancel={onClose} onSubmit={onSave}>
        <Inputs form={form} error={mutation.error} />
      </Form>
    </Dialog>
  )
}

function verbOf(kind: NamedKind): string {
  return hasNameOnly(kind) ? 'Rename' : 'Edit'
}

function hasNameOnly({ resource: { fields } }: NamedKind): boolean {
  return plainFields(fields).length === 1
}

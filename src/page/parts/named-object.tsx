/** The view of an object that is known by one word and has only plain fields to change: tags, domains. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { EventType } from '../../resources/event.js'
import { plainFields, type Resource } from '../../resources/resource.js'
import { call } from '../api/call.js'
import { useDeed, type Deed } from '../api/deed.js'
import { useObject } from '../api/object.js'
import { mayWrite } from '../session/rights.js'
import { Dialog } from './dialog.js'
import { Facts } from './facts.js'
import { Form } from './form.js'
import { ObjectDeeds } from './object-deeds.js'
import { Inputs, type InputForm } from './input-form.js'
import { listPlainFacts, usePlainForm } from './plain-fields.js'
import { saveChange } from './save-change.js'
import { Troubles } from './troubles.js'
import { useDelete } from './use-delete.js'
import { ViewHead } from './view-head.js'

/** What is the same of all objects of one kind. */
export interface NamedKind {
  readonly resource: Resource & { readonly event: EventType }
  /** Of its list. */
  readonly title: string
  readonly hint: string
}

interface NamedObjectProps<T extends object> {
  readonly kind: NamedKind
  readonly id: string
  readonly wordOf: (object: T) => string
  /** May be changed at all, by whoever may. */
  readonly isOpen: (object: T) => boolean
  /** What is gone with it. */
  readonly loss: string
  readonly children: (object: T) => ComponentChildren
}

export function NamedObject<T extends object>(props: NamedObjectProps<T>) {
  const { kind, id, wordOf, isOpen, loss, children } = props
  const { noun, permission, event, path: home } = kind.resource
  const path = `${home}/${id}`
  const shown = useObject<T>(path, { follow: event, id: Number(id) })
  const begun = useSignal<Begun | null>(null)
  const deletion = useDelete()
  const { value } = shown
  return (
    <>
      <ViewHead title={value ? wordOf(value) : noun} back={{ href: home, title: kind.title }}>
        {value && mayWrite(permission) && isOpen(value) && (
          <ObjectDeeds
            verb={verbOf(kind)}
            isDeleting={deletion.isBusy}
            onEdit={() => {
              begun.value = { object: value, etag: shown.etag }
            }}
            onDelete={() =>
              void deletion.ask({ path, noun, name: wordOf(value), text: loss, home })
            }
          />
        )}
      </ViewHead>
      <Troubles of={shown} deed={deletion} />
      {value && !hasNameOnly(kind) && <Facts of={listPlainFacts(value, kind.resource)} />}
      {value && children(value)}
      {begun.value && (
        <Change
          {...{ kind, path }}
          begun={begun.value}
          onSaved={shown.reload}
          onClose={() => {
            begun.value = null
          }}
        />
      )}
    </>
  )
}

/** As it was when the dialog was opened: what others save meanwhile is not written over. */
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
  const deed = useDeed()
  const form = usePlainForm(kind.resource, object, kind)
  // Once: undo puts back what was there, not what is written by now.
  const before = useMemo(form.read, [])
  const save = (): void => {
    const fields = { before, after: form.read() }
    void saveChange(deed, { path, ...fields, etag, then: onSaved, close: onClose })
  }
  const title = `${verbOf(kind)} the ${kind.resource.noun}`
  return <FormDialog {...{ title, verb: 'Save', form, deed, onClose }} onSave={save} />
}

/** Asks for its fields, makes the object and goes to it. */
export function NewNamed({
  kind,
  onClose,
}: {
  readonly kind: NamedKind
  readonly onClose: () => void
}) {
  const { noun, path } = kind.resource
  const deed = useDeed()
  const form = usePlainForm(kind.resource, null, kind)
  const [, go] = useLocation()
  const make = (): void => {
    void deed.run(
      () => call<{ readonly id: number }>('POST', path, { body: form.read() }),
      ({ id }) => {
        go(`${path}/${id}`)
      },
    )
  }
  return (
    <FormDialog {...{ title: `New ${noun}`, verb: 'Make', form, deed, onClose }} onSave={make} />
  )
}

interface FormDialogProps {
  readonly title: string
  readonly verb: string
  readonly form: InputForm
  readonly deed: Deed
  readonly onSave: () => void
  readonly onClose: () => void
}

function FormDialog({ title, verb, form, deed, onSave, onClose }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...{ deed, verb }} names={form.names} onCancel={onClose} onSubmit={onSave}>
        <Inputs form={form} error={deed.error} />
      </Form>
    </Dialog>
  )
}

function verbOf(kind: NamedKind): string {
  return hasNameOnly(kind) ? 'Rename' : 'Change'
}

function hasNameOnly({ resource: { fields } }: NamedKind): boolean {
  return plainFields(fields).length === 1
}

/** The view of an object that is known by one word and has nothing else to change: tags, domains. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'wouter-preact'
import { call } from '../api/call.js'
import { useDeed } from '../api/deed.js'
import { useObject } from '../api/object.js'
import type { EventType } from '../api/live-event.js'
import type { PermissionType } from '../../resources/permission.js'
import { mayWrite } from '../session/rights.js'
import { NameDialog } from './name-dialog.js'
import { ObjectDeeds } from './object-deeds.js'
import { saveChange } from './save-change.js'
import { Troubles } from './troubles.js'
import { useDelete } from './use-delete.js'
import { ViewHead } from './view-head.js'

/** What is the same of all objects of one kind. */
export interface NamedKind {
  /** As "tag": its permission and its events too; `title` is its list's. */
  readonly noun: PermissionType & EventType
  readonly title: string
  /** Of the list, in the API and in the page. */
  readonly path: string
  /** The API's name of the word. */
  readonly field: string
  readonly hint: string
}

export interface NamedObjectProps<T> {
  readonly kind: NamedKind
  readonly id: string
  readonly wordOf: (object: T) => string
  /** May be changed at all, by whoever may. */
  readonly isOpen: (object: T) => boolean
  /** What is gone with it. */
  readonly loss: string
  readonly children: (object: T) => ComponentChildren
}

export function NamedObject<T>(props: NamedObjectProps<T>) {
  const { kind, id, wordOf, isOpen, loss, children } = props
  const path = `${kind.path}/${id}`
  const shown = useObject<T>(path, { follow: kind.noun, id: Number(id) })
  const begun = useSignal<Begun | null>(null)
  const deletion = useDelete()
  const { value } = shown
  return (
    <>
      <ViewHead
        title={value ? wordOf(value) : kind.noun}
        back={{ href: kind.path, title: kind.title }}
      >
        {value && mayWrite(kind.noun) && isOpen(value) && (
          <ObjectDeeds
            verb="Rename"
            isDeleting={deletion.isBusy}
            onEdit={() => {
              begun.value = { word: wordOf(value), etag: shown.etag }
            }}
            onDelete={() =>
              void deletion.ask({
                ...{ path, noun: kind.noun, name: wordOf(value), text: loss, home: kind.path },
              })
            }
          />
        )}
      </ViewHead>
      <Troubles of={shown} deed={deletion} />
      {value && children(value)}
      {begun.value && (
        <Rename
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
  readonly word: string
  readonly etag: string | null
}

interface RenameProps {
  readonly kind: NamedKind
  readonly path: string
  readonly begun: Begun
  readonly onSaved: () => void
  readonly onClose: () => void
}

function Rename({ kind, path, begun: { word, etag }, onSaved, onClose }: RenameProps) {
  const { noun, field, hint } = kind
  const deed = useDeed()
  const save = (next: string): void => {
    const fields = { before: { [field]: word }, after: { [field]: next } }
    void saveChange(deed, { path, ...fields, etag, then: onSaved, close: onClose })
  }
  return (
    <NameDialog
      {...{ title: `Rename the ${noun}`, verb: 'Save', label: 'Name', field, hint, deed, onClose }}
      start={word}
      onSave={save}
    />
  )
}

/** Asks for the word, makes the object and goes to it. */
export function NewNamed({
  kind,
  onClose,
}: {
  readonly kind: NamedKind
  readonly onClose: () => void
}) {
  const { noun, path, field, hint } = kind
  const deed = useDeed()
  const [, go] = useLocation()
  const make = (word: string): void => {
    void deed.run(
      () => call<{ readonly id: number }>('POST', path, { body: { [field]: word } }),
      ({ id }) => {
        go(`${path}/${id}`)
      },
    )
  }
  return (
    <NameDialog
      {...{ title: `New ${noun}`, verb: 'Make', label: 'Name', field, hint, deed, onClose }}
      onSave={make}
    />
  )
}

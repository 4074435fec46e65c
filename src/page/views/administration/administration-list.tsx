/** A list of the administration as data: its columns, what makes, changes and deletes an object, what to say without any. */
import type { ComponentChildren } from 'preact'
import { useList, type ListOptions } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { ListView, type RowDeeds } from '../../parts/list-view.js'
import type { Column, TableProps } from '../../parts/table.js'
import { AdministrationHead } from './administration-head.js'
import { EditDialog, type EditKind } from './edit-dialog.js'

interface ListKind<T> extends Pick<TableProps<T>, 'linkOf' | 'sorting'> {
  readonly title: string
  /** Of the API. */
  readonly path: string
  readonly options?: ListOptions
  /** Which of the API's list; all unless given. */
  readonly isShown?: (row: T) => boolean
  /** "account": a button makes a new one. */
  readonly noun?: string
  /** Who may not sees no buttons. */
  readonly mayWrite: () => boolean
  /** Where the search looks. */
  readonly textOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly deeds?: Pick<RowDeeds<T>, 'nameOf' | 'questionOf'> & Partial<RowDeeds<T>>
  /** In place of the button that makes one. */
  readonly buttons?: (makeNew: () => void) => ComponentChildren
  /** What the dialog asks for; left out: nothing is made or changed here. */
  readonly edit?: EditKind<T>
  /** Where there is nothing yet. */
  readonly empty: { readonly icon?: 'cache'; readonly title: string; readonly text?: string }
}

/** The view of it. */
export function viewOf<T extends { readonly id: number }>(kind: ListKind<T>) {
  const { title, path, options, isShown, noun, textOf, columns, buttons, edit, empty } = kind
  const { linkOf, sorting } = kind
  const deeds = kind.deeds && { path, verb: 'Delete', done: 'Deleted.', ...kind.deeds }
  return function AdministrationList() {
    const isWriter = kind.mayWrite()
    const list = useList<T>(path, options)
    return (
      <ListView
        Head={AdministrationHead}
        {...{ title, textOf, columns, linkOf, sorting }}
        {...(buttons && { buttons })}
        list={isShown ? { ...list, rows: list.rows.filter(isShown) } : list}
        noun={isWriter ? noun : null}
        deeds={isWriter && deeds ? deeds : null}
        dialog={(asked) => edit && <EditDialog {...asked} path={path} kind={edit} />}
        empty={
          <Empty icon={empty.icon ?? 'administration'} title={empty.title}>
            {empty.text !== undefined && <p>{empty.text}</p>}
          </Empty>
        }
      />
    )
  }
}

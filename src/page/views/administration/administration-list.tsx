/** A list of the administration as data: its columns, how objects are made, changed and deleted, what to show without any. */
import type { ComponentChildren } from 'preact'
import { useList, type ListOptions } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { ListView, type RowActions } from '../../parts/list-view.js'
import type { Column, TableProps } from '../../parts/table.js'
import { AdministrationHead } from './administration-head.js'
import { EditDialog, type EditKind } from './edit-dialog.js'

interface ListKind<T extends { readonly id: number }> extends Pick<
  TableProps<T>,
  'linkOf' | 'sorting'
> {
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
  /** The text that is searched. */
  readonly textOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly actions?: Pick<RowActions<T>, 'nameOf' | 'questionOf'> & Partial<RowActions<T>>
  /** In place of the button that makes one. */
  readonly buttons?: (makeNew: () => void) => ComponentChildren
  /** The fields of the dialog; left out: nothing is made or changed here. */
  readonly edit?: EditKind<T>
  /** Where there is nothing yet. */
  readonly empty: { readonly icon?: 'cache'; readonly title: string; readonly text?: string }
}

/** The view of it. */
export function viewOf<T extends { readonly id: number }>(kind: ListKind<T>) {
  const { title, path, options, isShown, noun, textOf, columns, buttons, edit, empty } = kind
  const { linkOf, sorting } = kind
  const actions = kind.actions && { path, verb: 'Delete', done: 'Deleted.', ...kind.actions }
  return function AdministrationList() {
    const isWriter = kind.mayWrite()
    const list = useList<T>(path, options)
    return (
      <ListView
        Head={AdministrationHead}
        title={title}
        textOf={textOf}
        columns={columns}
        linkOf={linkOf}
        sorting={sorting}
        {...(buttons && { buttons })}
        list={isShown ? { ...list, rows: list.rows.filter(isShown) } : list}
        noun={isWriter ? noun : null}
        actions={isWriter && actions ? actions : null}
        dialog={(request) => edit && <EditDialog {...request} path={path} kind={edit} />}
        empty={
          <Empty icon={empty.icon ?? 'administration'} title={empty.title}>
            {empty.text !== undefined && <p>{empty.text}</p>}
          </Empty>
        }
      />
    )
  }
}

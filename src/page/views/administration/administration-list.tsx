/** An administration list described by data: columns, how objects are created, changed and deleted, and the text for an empty list. */
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
  /** Path in the API. */
  readonly path: string
  readonly options?: ListOptions
  /** Filters the API's list; if omitted, all rows are shown. */
  readonly isShown?: (row: T) => boolean
  /** Name of the object, such as "account", for the button that creates one. */
  readonly noun?: string
  /** Users without the permission see no buttons. */
  readonly mayWrite: () => boolean
  /** The text that the search matches. */
  readonly textOf: (row: T) => string
  readonly columns: readonly Column<T>[]
  readonly actions?: Pick<RowActions<T>, 'nameOf' | 'questionOf'> & Partial<RowActions<T>>
  /** Replaces the button that creates an object. */
  readonly buttons?: (makeNew: () => void) => ComponentChildren
  /** The fields of the dialog; if omitted, objects cannot be created or changed here. */
  readonly edit?: EditKind<T>
  /** Shown for an empty list. */
  readonly empty: { readonly icon?: 'cache'; readonly title: string; readonly text?: string }
}

/** Makes the view of such a list. */
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

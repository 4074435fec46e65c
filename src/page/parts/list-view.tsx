/** The view of a list of objects: its head, its table or the reason why it is empty, and the actions to create, change and delete. */
import type { ComponentChildren, ComponentType } from 'preact'
import { useMemo } from 'preact/hooks'
import { call } from '../api/call.js'
import { useMutation } from '../api/mutation.js'
import type { List } from '../api/list.js'
import type { Reference } from '../../resources/resource.js'
import { useSearchText } from '../shell/address.js'
import { useKey } from '../shell/keys.js'
import { Button } from './button.js'
import { confirmDestruction, type Question } from './confirm.js'
import { Empty } from './empty.js'
import { ErrorNote } from './error-note.js'
import { focusView } from './focus-view.js'
import { Loading } from './loading.js'
import { ownerColumns } from './owner.js'
import { Table, type Column, type TableProps } from './table.js'
import { toast } from './toasts.js'
import { useDialog } from './use-dialog.js'
import { ViewHead, type ViewHeadProps } from './view-head.js'

/** Passed to the dialog of the view. */
export interface EditRequest<T> {
  /** The object as it is in the list; null: a new one is created. */
  readonly before: T | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** The buttons of each row. */
export interface RowActions<T> {
  /** Path of the list in the API: `/accounts`. */
  readonly path: string
  /** The name that the buttons use. */
  readonly nameOf: (row: T) => string
  /** Label of the delete action: "Revoke". */
  readonly verb: string
  readonly questionOf: (row: T) => Omit<Question, 'verb'>
  /** Message shown after deletion. */
  readonly done: string
  readonly isChangeable?: boolean
  readonly width?: string
  /** If omitted, every row has the buttons. */
  readonly isOffered?: (row: T) => boolean
  /** Handles deletions that need more than this one; returns whether it took over. */
  readonly removeElsewhere?: (row: T) => boolean
}

interface ListViewProps<T extends { readonly id: number }> extends Pick<
  TableProps<T>,
  'columns' | 'linkOf' | 'sorting'
> {
  readonly title: string
  /** Accessible name of the table; defaults to the title. */
  readonly label?: string
  readonly list: List<T>
  /** The text that the search matches. */
  readonly textOf?: (row: T) => string
  /** Rows left by the view's own filters, used in place of `textOf`. */
  readonly shown?: readonly T[]
  /** The head of this section of the page. */
  readonly Head?: ComponentType<ViewHeadProps>
  /** Adds a button "New tag" and the key n. */
  readonly noun?: string | null | undefined
  readonly buttons?: (makeNew: () => void) => ComponentChildren
  readonly dialog?: (request: EditRequest<T>) => ComponentChildren
  readonly actions?: RowActions<T> | null
  /** For objects owned by organizations. */
  readonly ownerOf?: (row: T) => Reference | null
  /** Shown for an empty list, with a suggestion what to do next. */
  readonly empty: ComponentChildren
  /** Filters above the table. */
  readonly children?: ComponentChildren
}

export function ListView<T extends { readonly id: number }>(props: ListViewProps<T>) {
  const { title, list, columns, noun, buttons, dialog, actions, empty, children } = props
  const { Head = ViewHead, label = title, textOf, linkOf, sorting, ownerOf } = props
  const text = useSearchText()
  const editing = useDialog<{ readonly before: T | null }>()
  const edit = (before: T | null): void => {
    editing.open({ before })
  }
  const makeNew = (): void => {
    edit(null)
  }
  const removal = useRemoval(actions, list.reload)
  const all = useMemo(
    () => [
      ...columns,
      ...(ownerOf ? ownerColumns(ownerOf) : []),
      ...(actions ? [actionsColumn(actions, edit, removal.remove)] : []),
    ],
    [columns, actions, list.reload],
  )
  const rows = textOf
    ? list.rows.filter((row) => textOf(row).toLowerCase().includes(text))
    : (props.shown ?? list.rows)
  return (
    <>
      <Head title={title}>
        {buttons?.(makeNew)}
        {noun != null && <NewButton noun={noun} onPress={makeNew} />}
      </Head>
      {children}
      {removal.error && <ErrorNote error={removal.error} />}
      <Rows list={list} empty={empty} table={{ label, rows, columns: all, linkOf, sorting }} />
      {editing.subject &&
        dialog?.({ ...editing.subject, onSaved: list.reload, onClose: editing.close })}
    </>
  )
}

interface RowsProps<T extends { readonly id: number }> {
  readonly list: List<T>
  readonly empty: ComponentChildren
  readonly table: TableProps<T>
}

/** The rows, or the reason why there are none. */
function Rows<T extends { readonly id: number }>({ list, empty, table }: RowsProps<T>) {
  const { phase, error, reload } = list
  const isReady = phase === 'ready' && !error
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {table.rows.length > 0 && <Table {...table} fills />}
      {isReady && list.rows.length === 0 && empty}
      {isReady && list.rows.length > 0 && table.rows.length === 0 && (
        <Empty icon="search" title="Nothing matches this search" />
      )}
    </>
  )
}

function NewButton({ noun, onPress }: { readonly noun: string; readonly onPress: () => void }) {
  useKey('n', `New ${noun}`, onPress)
  return (
    <Button kind="main" icon="add" onClick={onPress}>
      New {noun}
    </Button>
  )
}

function useRemoval<T extends { readonly id: number }>(
  actions: RowActions<T> | null | undefined,
  then: () => void,
) {
  const mutation = useMutation()
  const remove = async (row: T): Promise<void> => {
    if (!actions || actions.removeElsewhere?.(row)) return
    if (!(await confirmDestruction({ ...actions.questionOf(row), verb: actions.verb }))) return
    await mutation.run(
      () => call('DELETE', `${actions.path}/${row.id}`),
      () => {
        toast(actions.done)
        // The delete button, which had the focus, disappears with its row.
        focusView()
        then()
      },
    )
  }
  return { error: mutation.error, remove }
}

function actionsColumn<T extends { readonly id: number }>(
  {
    nameOf,
    verb,
    isChangeable = false,
    width = isChangeable ? '6.5rem' : '5rem',
    isOffered,
  }: RowActions<T>,
  change: (row: T) => void,
  remove: (row: T) => Promise<void>,
): Column<T> {
  const show = (row: T) => {
    if (isOffered && !isOffered(row)) return null
    return (
      <span class="row-actions">
        {isChangeable && (
          <Button
            kind="quiet"
            icon="edit"
            label={`Edit ${nameOf(row)}`}
            onClick={() => {
              change(row)
            }}
          />
        )}
        <Button
          kind="quiet"
          icon="remove"
          label={`${verb} ${nameOf(row)}`}
          onClick={() => void remove(row)} // never rejects
        />
      </span>
    )
  }
  return { title: isChangeable ? 'Edit' : verb, width, isEnd: true, show }
}

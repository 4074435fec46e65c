/** A list of objects: its table, or why there is none. */
import type { ComponentChildren } from 'preact'
import type { CallError } from '../api/http.js'
import type { List } from '../api/list.js'
import { Empty } from './empty.js'
import { ErrorNote } from './error-note.js'
import { Loading } from './loading.js'
import { Table, type TableProps } from './table.js'

export interface ObjectListProps<T extends { readonly id: number }> extends TableProps<T> {
  readonly list: List<unknown>
  /** Why the last change of one of them did not work. */
  readonly problem?: CallError | null
  /** Shown where there is nothing at all: what to do next. */
  readonly children: ComponentChildren
}

export function ObjectList<T extends { readonly id: number }>(props: ObjectListProps<T>) {
  const { list, problem = null, children, ...table } = props
  const { rows, phase, error, reload } = list
  const isReady = phase === 'ready' && !error
  return (
    <>
      {problem && <ErrorNote error={problem} />}
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {table.rows.length > 0 && <Table {...table} fills />}
      {isReady && rows.length === 0 && children}
      {isReady && rows.length > 0 && table.rows.length === 0 && (
        <Empty icon="search" title="Nothing fits this search" />
      )}
    </>
  )
}

/**
 * A table of any length that renders only the visible rows. Column heads sort it; arrows, Home, End and the page keys move
 * between the rows' links. Every row is one line high, so that nothing jumps. If rows can be selected, Space and Shift with an
 * arrow select them.
 */
import { useComputed, useSignal, useSignalEffect, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { Icon } from './icon.js'
import {
  CheckAll,
  CheckRow,
  useChoosing,
  type Choosing,
  type Selection,
} from './table-selection.js'
import { useVisibleRows } from './use-visible-rows.js'
import {
  findWindow,
  nextActive,
  rowHeights,
  sortRows,
  type Sorting,
  type SortValue,
} from './visible-rows.js'

export interface Column<T> {
  readonly title: string
  readonly show: (row: T) => ComponentChildren
  /** If omitted, the table cannot be sorted by this column. */
  readonly sortBy?: (row: T) => SortValue
  /** CSS width: `8rem`, `20%`. Columns without a width share the rest. */
  readonly width?: string
  /** Minimum window width at which the column is shown; `medium` is 44rem, `wide` 68rem, `widest` 100rem. */
  readonly from?: 'medium' | 'wide' | 'widest'
  /** Aligns the column to the end, for numbers. */
  readonly isEnd?: boolean
}

export interface TableProps<T extends { readonly id: number | string }> {
  /** Accessible name of the table. */
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  /** Target of a row; the first column is the link. */
  readonly linkOf?: ((row: T) => string) | undefined
  /** Called when a row is pressed, in place of a link. */
  readonly onOpen?: ((row: T) => void) | undefined
  readonly sorting?: Sorting | undefined
  /** If given, the view stores the sorting and passes it as `sorting`; otherwise the table stores it. */
  readonly onSort?: (sorting: Sorting) => void
  /** Fills the rest of the window's height; otherwise the table is as high as its rows, at most 70 % of the window. */
  readonly fills?: boolean
  /** Rows of 32 pixels, for long lists. */
  readonly isDense?: boolean
  /** Makes rows selectable. */
  readonly selection?: Selection<T> | undefined
}

export function Table<T extends { readonly id: number | string }>(props: TableProps<T>) {
  const { label, columns, linkOf, onOpen, fills = false, isDense = false, selection } = props
  const rowHeight = isDense ? rowHeights.dense : rowHeights.plain
  const place = useRef<HTMLDivElement>(null)
  const chosen = useSignal<Sorting | null>(props.sorting ?? null)
  const firstVisible = useSignal(0)
  const visibleCount = useSignal(30)
  const active = useSignal<number | null>(null)
  const order = props.onSort ? (props.sorting ?? null) : chosen.value
  // Memoized, so that scrolling does not sort again.
  const rows = useMemo(() => sortRows(props.rows, columns, order), [props.rows, columns, order])
  const { from, to } = findWindow(rows.length, firstVisible.value, visibleCount.value)

  const choosing = useChoosing(rows, selection)
  useVisibleRows(place, rowHeight, { first: firstVisible, count: visibleCount })
  useActiveRow(place, rowHeight, active)

  const sort = (next: Sorting): void => {
    place.current?.scrollTo({ top: 0 })
    if (props.onSort) props.onSort(next)
    else chosen.value = next
  }
  const move = (event: KeyboardEvent): void => {
    if ((!linkOf && !onOpen) || event.ctrlKey || event.metaKey || event.altKey) return
    if (choosing?.toggleFocused(event) === true) return
    const next = nextActive(event.key, active.peek(), rows.length, visibleCount.peek())
    if (next === null) return
    event.preventDefault()
    if (event.shiftKey) choosing?.extend(active.peek(), next)
    active.value = next
  }

  return (
    <div
      class={`table-frame${fills ? ' table-fills' : ''}${isDense ? ' table-dense' : ''}`}
      style={{ maxWidth: widestOf(columns) }}
      ref={place}
      tabIndex={0}
      role="region"
      aria-label={label}
      onKeyDown={move}
    >
      <table class="table" aria-rowcount={rows.length + 1} aria-label={label}>
        <colgroup>
          {choosing && <col class="table-check" />}
          {columns.map(({ title, width, from }) => (
            <col key={title} class={seenFrom(from)} style={width === undefined ? {} : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {choosing && <CheckAll choosing={choosing} />}
            {columns.map((column) => (
              <Head key={column.title} column={column} order={order} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={from * rowHeight} />
          {rows.slice(from, to).map((row, at) => (
            <Row
              key={row.id}
              index={from + at}
              row={row}
              columns={columns}
              linkOf={linkOf}
              onOpen={onOpen}
              choosing={choosing}
            />
          ))}
          <Gap height={(rows.length - to) * rowHeight} />
        </tbody>
      </table>
    </div>
  )
}

interface RowProps<T extends { readonly id: number | string }> extends Pick<
  TableProps<T>,
  'columns' | 'linkOf' | 'onOpen'
> {
  readonly row: T
  /** Index among all rows, rendered or not. */
  readonly index: number
  readonly choosing: Choosing<T> | null
}

function Row<T extends { readonly id: number | string }>(props: RowProps<T>) {
  const { row, index, columns, linkOf, onOpen, choosing } = props
  const draw = () => (
    <tr
      aria-rowindex={index + 2}
      class={linkOf || onOpen ? 'table-row table-row-link' : 'table-row'}
    >
      {choosing && <CheckRow row={row} index={index} choosing={choosing} />}
      {columns.map((column, place) => (
        <td key={column.title} class={classOf(column)}>
          {linkOf && place === 0 ? (
            <Link href={linkOf(row)} class="table-link" data-row={index}>
              {nameOf(column.show(row))}
            </Link>
          ) : onOpen && place === 0 ? (
            <button
              type="button"
              class="table-link"
              data-row={index}
              onClick={() => {
                onOpen(row)
              }}
            >
              {nameOf(column.show(row))}
            </button>
          ) : (
            column.show(row)
          )}
        </td>
      ))}
    </tr>
  )
  // Scrolling changes nothing in a row: Preact skips the comparison for an identical element.
  return useMemo(draw, [row, index, columns, linkOf, onOpen, choosing])
}

/** Limits the width of columns without a fixed one: on a wide screen distant columns are hard to read as a row. */
function widestOf<T>(columns: readonly Column<T>[]): string {
  const widths = columns.map(({ width }, place) =>
    width === undefined || width.endsWith('%') ? (place === 0 ? '32rem' : '24rem') : width,
  )
  return `calc(3rem + ${widths.join(' + ')})`
}

/** A name may consist of blanks only: quotes keep its link visible and clickable. */
function nameOf(shown: ComponentChildren): ComponentChildren {
  return typeof shown === 'string' && !/[\p{L}\p{N}\p{P}\p{S}]/u.test(shown) ? `“${shown}”` : shown
}

/** Takes the place of rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true">
      <td class="table-gap" style={{ height: `${height}px` }} />
    </tr>
  )
}

interface HeadProps<T> {
  readonly column: Column<T>
  readonly order: Sorting | null
  readonly sort: (next: Sorting) => void
}

function Head<T>({ column, order, sort }: HeadProps<T>) {
  const { title, sortBy, isEnd = false } = column
  const isSorted = order?.title === title
  const isDescending = isSorted && order.isDescending
  const toggle = (): void => {
    sort({ title, isDescending: isSorted ? !isDescending : isEnd })
  }
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}
    >
      {sortBy ? (
        <button type="button" class="table-sort" onClick={toggle}>
          {title}
          <span
            class={`table-sort-icon${isSorted ? ' table-sorted' : ''}${isDescending ? ' table-down' : ''}`}
          >
            <Icon name="sorted" />
          </span>
        </button>
      ) : (
        title
      )}
    </th>
  )
}

function classOf<T>({ from, isEnd }: Column<T>): string {
  return `${seenFrom(from)}${isEnd === true ? ' table-end' : ''}`
}

function seenFrom(from: Column<unknown>['from']): string {
  return from === undefined ? '' : `from-${from}`
}

/** Scrolls to the active row and focuses its link once it is rendered. */
function useActiveRow(
  place: { readonly current: HTMLDivElement | null },
  rowHeight: number,
  active: Signal<number | null>,
): void {
  const index = useComputed(() => active.value)
  useSignalEffect(() => {
    const frame = place.current
    if (!frame || index.value === null) return
    const top = index.value * rowHeight
    const room = frame.clientHeight - 2 * rowHeight
    if (top < frame.scrollTop) frame.scrollTop = top
    else if (top > frame.scrollTop + room) frame.scrollTop = top - room
    const selector = `[data-row="${index.value}"]`
    // One frame for the scroll event, one for rendering the rows.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => frame.querySelector<HTMLElement>(selector)?.focus()),
    )
  })
}

/** Row selection of a table: a box per row, Shift for a range, keys. A change renders only the boxes, not the table. */
import { useComputed, type ReadonlySignal, type Signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { judgeSelection, setRange } from './selection.js'

export interface Selection<T extends { readonly id: number | string }> {
  readonly chosen: Signal<ReadonlySet<T['id']>>
  readonly nameOf: (row: T) => string
}

export interface Choosing<T extends { readonly id: number | string }> extends Selection<T> {
  readonly ids: readonly T['id'][]
  /** Handles a click on a row's box; with Shift selects the range from the row clicked before. */
  readonly toggle: (index: number, isRange: boolean) => void
  /** Selects a range of rows by keyboard. */
  readonly extend: (from: number | null, to: number) => void
  readonly toggleAll: () => void
  /** Returns true if the key was Space on a row. */
  readonly toggleFocused: (event: KeyboardEvent) => boolean
}

/** `rows` in display order. Null: rows cannot be selected. */
export function useChoosing<T extends { readonly id: number | string }>(
  rows: readonly T[],
  selection: Selection<T> | undefined,
): Choosing<T> | null {
  const anchor = useRef(0)
  const ids = useMemo(() => (selection ? rows.map(({ id }) => id) : []), [rows, selection])
  // Stays identical until its inputs change, so that rows are not rendered again.
  return useMemo(() => selection && choose(ids, selection, anchor), [ids, selection]) ?? null
}

function choose<T extends { readonly id: number | string }>(
  ids: readonly T['id'][],
  selection: Selection<T>,
  anchor: { current: number },
): Choosing<T> {
  const { chosen } = selection
  const toggle = (index: number, isRange: boolean): void => {
    const id = ids[index]
    if (id === undefined) return
    const from = isRange ? anchor.current : index
    chosen.value = setRange(chosen.peek(), ids, { from, to: index, isOn: !chosen.peek().has(id) })
    anchor.current = index
  }
  return {
    ...selection,
    ids,
    toggle,
    extend: (from, to) => {
      chosen.value = setRange(chosen.peek(), ids, { from: from ?? to, to, isOn: true })
      anchor.current = to
    },
    toggleAll: () => {
      chosen.value = judgeSelection(chosen.peek(), ids) === 'all' ? new Set() : new Set(ids)
    },
    toggleFocused: (event) => {
      const row = event.target instanceof HTMLElement ? event.target.dataset['row'] : undefined
      if (event.key !== ' ' || row === undefined) return false
      event.preventDefault()
      toggle(Number(row), event.shiftKey)
      return true
    },
  }
}

interface CheckRowProps<T extends { readonly id: number | string }> {
  readonly row: T
  readonly index: number
  readonly choosing: Choosing<T>
}

export function CheckRow<T extends { readonly id: number | string }>(props: CheckRowProps<T>) {
  const { row, index, choosing } = props
  const { chosen, nameOf, toggle } = choosing
  const isChosen = useComputed(() => chosen.value.has(row.id))
  return (
    <td class="table-check">
      <CheckBox
        label={`Select ${nameOf(row)}`}
        isChosen={isChosen}
        onToggle={(isRange) => {
          toggle(index, isRange)
        }}
      />
    </td>
  )
}

export function CheckAll<T extends { readonly id: number | string }>({
  choosing,
}: {
  readonly choosing: Choosing<T>
}) {
  const { chosen, ids, toggleAll } = choosing
  const found = judgeSelection(chosen.value, ids)
  return (
    <th scope="col" class="table-check">
      <CheckBox
        label="Select all that are shown"
        isChosen={found === 'all'}
        isMixed={found === 'some'}
        onToggle={toggleAll}
      />
    </th>
  )
}

interface CheckBoxProps {
  readonly label: string
  readonly isChosen: boolean | ReadonlySignal<boolean>
  readonly isMixed?: boolean
  readonly onToggle: (isRange: boolean) => void
}

function CheckBox({ label, isChosen, isMixed = false, onToggle }: CheckBoxProps) {
  return (
    <label>
      <input
        type="checkbox"
        aria-label={label}
        checked={isChosen}
        indeterminate={isMixed}
        onClick={(event) => {
          onToggle(event.shiftKey)
        }}
      />
    </label>
  )
}

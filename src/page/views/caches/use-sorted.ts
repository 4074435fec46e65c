/** By what the list of caches is sorted: kept in the address, by rates once they are read. */
import { useMemo, useRef } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import type { CallError } from '../../api/http.js'
import type { Sorting } from '../../parts/visible-rows.js'
import type { Column } from '../../parts/table.js'
import { useAddressField } from '../../shell/address.js'
import { columnsWithoutRates, isOfRates, listColumns } from './columns.js'
import { byName, readSorting, formatSorting } from './sort-caches.js'
import { useRates } from './use-rates.js'

export interface Sorted {
  readonly columns: readonly Column<Agent>[]
  readonly sorting: Sorting
  readonly onSort: (next: Sorting) => void
  /** Of the rates. */
  readonly error: CallError | null
}

export function useSorted(seesRates: boolean): Sorted {
  const [word, setWord] = useAddressField('sort')
  const titles = seesRates ? titlesOf(listColumns(null)) : titlesOf(columnsWithoutRates)
  const wanted = readSorting(word, titles)
  const isByRates = isOfRates(wanted.title)
  const { rates, error } = useRates(isByRates)
  const columns = useMemo(
    () => (seesRates ? listColumns(rates) : columnsWithoutRates),
    [seesRates, rates],
  )
  // Until the rates are there the rows stay where they are.
  const shown = useRef(byName)
  if (!isByRates || rates) shown.current = wanted
  return {
    columns,
    sorting: shown.current,
    error,
    onSort: (next) => {
      setWord(formatSorting(next))
    },
  }
}

/** Of those by which it can be sorted. */
function titlesOf(columns: readonly Column<Agent>[]): readonly string[] {
  return columns.flatMap(({ title, sortBy }) => (sortBy ? [title] : []))
}

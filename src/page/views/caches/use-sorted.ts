/** By what the list of caches is sorted: kept in the address, by rates once they are read. */
import { useMemo, useRef } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import type { CallError } from '../../api/http.js'
import type { Sorting } from '../../parts/visible-rows.js'
import type { Column } from '../../parts/table.js'
import { useAddressField } from '../../shell/address.js'
import { columnsWithoutRates, isOfRates, listColumns } from './columns.js'
import { formatSorting, readSorting, worstFirst, type Rates } from './sort-caches.js'
import { useRates } from './use-rates.js'

export interface Sorted {
  readonly columns: readonly Column<Agent>[]
  readonly sorting: Sorting
  readonly onSort: (next: Sorting) => void
  /** Of all caches; null: not read, or not yet. */
  readonly rates: ReadonlyMap<number, Rates> | null
  /** Of the rates. */
  readonly error: CallError | null
}

/** `isMap`: all rates are shown, whatever it is sorted by. */
export function useSorted(seesRates: boolean, isMap: boolean): Sorted {
  const [word, setWord] = useAddressField('sort')
  const titles = seesRates ? titlesOf(listColumns(null)) : titlesOf(columnsWithoutRates)
  const wanted = readSorting(word, titles)
  const isByRates = isOfRates(wanted.title)
  const { rates, error } = useRates(seesRates, isByRates || isMap)
  const columns = useMemo(
    () => (seesRates ? listColumns(isByRates ? rates : null) : columnsWithoutRates),
    [seesRates, isByRates, isByRates ? rates : null],
  )
  // Until the rates are there the rows stay where they are.
  const shown = useRef(worstFirst)
  if (!isByRates || rates) shown.current = wanted
  return {
    columns,
    sorting: shown.current,
    rates,
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

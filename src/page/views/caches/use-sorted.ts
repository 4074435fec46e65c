/** The sort order of the list of caches, kept in the URL; sorting by rates applies once they are read. */
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
  /** The rates of all caches; null: not read (yet). */
  readonly rates: ReadonlyMap<number, Rates> | null
  /** The error of reading the rates. */
  readonly error: CallError | null
}

/** `isMap`: all rates are shown, regardless of the sort order. */
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
  // Rows keep their order until the rates arrive.
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

/** Returns the titles of the sortable columns. */
function titlesOf(columns: readonly Column<Agent>[]): readonly string[] {
  return columns.flatMap(({ title, sortBy }) => (sortBy ? [title] : []))
}

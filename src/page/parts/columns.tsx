/** Columns that many tables have. */
import { sayCount, unknown } from './quantity.js'
import { StateChip } from './state-chip.js'
import type { Column } from './table.js'
import { Time } from './time.js'

type Seen<T> = Pick<Column<T>, 'from'>

/** The first column of most. */
export function nameColumn<T>(nameOf: (row: T) => string): Column<T> {
  return { title: 'Name', show: nameOf, sortBy: nameOf }
}

/** "3 minutes ago"; null: never. */
export function agoColumn<T>(
  title: string,
  timeOf: (row: T) => string | null,
  seen: Seen<T> = {},
): Column<T> {
  return {
    ...{ title, width: '9.5rem', sortBy: timeOf, ...seen },
    show: (row) => {
      const at = timeOf(row)
      return at === null ? unknown : <Time at={at} isAgo />
    },
  }
}

export function countColumn<T>(
  title: string,
  countOf: (row: T) => number,
  seen: Seen<T> = {},
): Column<T> {
  return {
    ...{ title, width: '6.5rem', isEnd: true, sortBy: countOf, ...seen },
    show: (row) => sayCount(countOf(row)),
  }
}

/** Of accounts and organizations. */
export function lockedColumn<T extends { readonly locked: boolean }>(): Column<T> {
  return {
    title: 'State',
    width: '7.5rem',
    show: ({ locked }) =>
      locked ? <StateChip state="Locked" /> : <StateChip state="Open" tone="good" />,
    sortBy: ({ locked }) => Number(locked),
  }
}

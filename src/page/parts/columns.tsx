/** Columns that many tables share. */
import { formatCount, unknown } from './quantity.js'
import { Labels, StateChip, type Tone } from './state-chip.js'
import type { Column } from './table.js'
import { Time } from './time.js'

type Shape<T> = Partial<Omit<Column<T>, 'title' | 'show'>>

/** Sorted by the displayed text. */
export function textColumn<T>(
  title: string,
  textOf: (row: T) => string | null,
  shape: Shape<T> = {},
): Column<T> {
  return { title, show: (row) => textOf(row) ?? unknown, sortBy: textOf, ...shape }
}

export function codeColumn<T>(
  title: string,
  textOf: (row: T) => string,
  shape: Shape<T> = {},
): Column<T> {
  const show = (row: T) => <code title={textOf(row)}>{textOf(row)}</code>
  return { title, show, sortBy: textOf, ...shape }
}

export function stateColumn<T>(
  title: string,
  stateOf: (row: T) => string,
  { toneOf, ...shape }: Shape<T> & { readonly toneOf?: (row: T) => Tone } = {},
): Column<T> {
  const show = (row: T) => <StateChip state={stateOf(row)} {...(toneOf && { tone: toneOf(row) })} />
  return { title, show, sortBy: stateOf, ...shape }
}

export function labelsColumn<T>(
  title: string,
  wordsOf: (row: T) => readonly string[],
  shape: Shape<T> = {},
): Column<T> {
  return { title, show: (row) => <Labels words={wordsOf(row)} />, ...shape }
}

/** "3 minutes ago"; null: never. */
export function agoColumn<T>(
  title: string,
  timeOf: (row: T) => string | null,
  shape: Shape<T> = {},
): Column<T> {
  return {
    title,
    width: '9.5rem',
    sortBy: timeOf,
    ...shape,
    show: (row) => {
      const at = timeOf(row)
      return at === null ? unknown : <Time at={at} isAgo />
    },
  }
}

export function countColumn<T>(
  title: string,
  countOf: (row: T) => number | null,
  shape: Shape<T> = {},
): Column<T> {
  return {
    title,
    width: '6.5rem',
    isEnd: true,
    sortBy: countOf,
    ...shape,
    show: (row) => formatCount(countOf(row)),
  }
}

/** Adds up the series of several caches, row by row. */

interface Sums {
  add(endsAt: number, value: number): void
  /**
   * In order of time. Of the rows that end after `settledBefore` those are left out that not all caches have: others may
   * still come.
   */
  read(settledBefore: number): { readonly endsAt: Float64Array; readonly values: Float64Array }
}

export function createSums(): Sums {
  const rows = new Map<number, { sum: number; caches: number }>()
  return {
    add: (endsAt, value) => {
      const row = rows.get(endsAt)
      if (row) {
        row.sum += value
        row.caches += 1
      } else rows.set(endsAt, { sum: value, caches: 1 })
    },
    read: (settledBefore) => {
      let most = 0
      for (const { caches } of rows.values()) most = Math.max(most, caches)
      const shown = [...rows]
        .filter(([endsAt, { caches }]) => endsAt <= settledBefore || caches === most)
        .sort(([a], [b]) => a - b)
      return {
        endsAt: Float64Array.from(shown, ([endsAt]) => endsAt),
        values: Float64Array.from(shown, ([, { sum }]) => sum),
      }
    },
  }
}

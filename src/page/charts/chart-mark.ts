/** An event at a moment or over a period, shown in every chart of that time range. */

export interface ChartMark {
  /** Seconds since 1970. */
  readonly at: number
  /** End of the period; if omitted, the mark is a moment. */
  readonly until?: number
  readonly tone: 'change' | 'removal' | 'outage'
  readonly text: string
}

/** Returns the mark under the pointer: the nearest within `reach`, in the unit of `place`; a period matches anywhere inside it. */
export function findMark(
  marks: readonly ChartMark[],
  pointer: number,
  place: (seconds: number) => number,
  reach: number,
): ChartMark | null {
  const distanceOf = ({ at, until }: ChartMark): number => {
    const [from, to] = [place(at), place(until ?? at)]
    if (until !== undefined && pointer >= from && pointer <= to) return 0
    return Math.min(Math.abs(pointer - from), Math.abs(pointer - to))
  }
  // A moment precedes a period at the same place, because it is harder to hit.
  const near = marks
    .map((mark) => ({ mark, distance: distanceOf(mark), isWhile: mark.until !== undefined }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => Number(a.isWhile) - Number(b.isWhile) || a.distance - b.distance)
  return near[0]?.mark ?? null
}

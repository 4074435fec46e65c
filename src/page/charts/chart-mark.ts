/** What happened at a time or over a while, shown in every chart of that time. */

export interface ChartMark {
  /** Seconds since 1970. */
  readonly at: number
  /** When it was over; left out: it is a moment. */
  readonly until?: number
  readonly tone: 'change' | 'removal' | 'outage'
  readonly text: string
}

/** The mark that the pointer is at: the nearest within `reach`, in the unit of `place`; a while is met anywhere in it. */
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
  // Of two at the same place the moment is harder to meet.
  const near = marks
    .map((mark) => ({ mark, distance: distanceOf(mark), isWhile: mark.until !== undefined }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => Number(a.isWhile) - Number(b.isWhile) || a.distance - b.distance)
  return near[0]?.mark ?? null
}

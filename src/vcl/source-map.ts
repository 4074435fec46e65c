/** Maps positions in the flattened text to the author's files. Plain JSON, so that it can be stored with the text. */
import { advancePoint, type TextPoint } from './text-point.js'

export interface SourceMap {
  /** File names; the main file is the first. */
  readonly files: readonly string[]
  /** In the order of the flattened text; each segment is valid up to the next. */
  readonly segments: readonly SourceSegment[]
  /** End of the main file's last token. Missing in maps from older builds. */
  readonly end?: TextPoint
}

/**
 * Line and position in the flattened text, index of the file, line and position in the file. The first line of a segment is shifted by the
 * difference of the positions; its other lines start where the file's lines do.
 */
export type SourceSegment = readonly [
  line: number,
  position: number,
  file: number,
  fileLine: number,
  filePosition: number,
]

/** A position in an author's file; both numbers count from 1, as in the compiler. */
export interface SourcePlace extends TextPoint {
  readonly file: string
}

/** Returns null if the map does not cover the point. */
export function locateSource(map: SourceMap, point: TextPoint): SourcePlace | null {
  const segment = lastSegmentAt(map.segments, point)
  if (!segment) return null
  const [line, position, file, fileLine, filePosition] = segment
  const name = map.files[file]
  if (name === undefined) return null
  const shift = point.line === line ? filePosition - position : 0
  return { file: name, line: fileLine + point.line - line, position: point.position + shift }
}

/** For example `main.vcl line 7 pos 33` (docs/behaviour.md, Compiler errors). */
export function describePlace(place: SourcePlace): string {
  return `${place.file} line ${place.line} pos ${place.position}`
}

function lastSegmentAt(
  segments: readonly SourceSegment[],
  point: TextPoint,
): SourceSegment | undefined {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >> 1
    const [line, position] = segments[middle] ?? [Infinity, 0]
    const behind = line > point.line || (line === point.line && position > point.position)
    if (behind) high = middle
    else low = middle + 1
  }
  return segments[low - 1]
}

/**
 * The segments of `text` from `from`, which is at `origin` in its file and at `point` in the flattened text. A shifted line needs a second
 * segment after its first tab: tabs end on multiples of 8 on both sides, so the shift differs there and is constant for the rest of the
 * line.
 */
export function segmentsOf(
  file: number,
  text: string,
  from: number,
  points: { origin: TextPoint; point: TextPoint },
): SourceSegment[] {
  const { origin, point } = points
  const segments: SourceSegment[] = [toSegment(file, point, origin)]
  if ((point.position - origin.position) % 8 === 0) return segments
  const lineEnd = text.indexOf('\n', from)
  const tab = text.indexOf('\t', from)
  if (tab < 0 || (lineEnd >= 0 && tab > lineEnd)) return segments
  const behind = (start: TextPoint): TextPoint => advancePoint(start, text, from, tab + 1)
  segments.push(toSegment(file, behind(point), behind(origin)))
  return segments
}

function toSegment(file: number, point: TextPoint, origin: TextPoint): SourceSegment {
  return [point.line, point.position, file, origin.line, origin.position]
}

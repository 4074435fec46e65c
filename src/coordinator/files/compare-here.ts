/** Compares two texts, as a unified diff. */
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff'

export interface NamedText {
  /** Shown in the header of the diff. */
  readonly name: string
  readonly text: string
}

export interface Comparison {
  readonly from: NamedText
  readonly to: NamedText
}

const contextLines = 3
/** Two texts of maximum size with nothing in common would take minutes. */
export const compareTimeoutMs = 5_000

/** Returns null if they differ too much to be compared in time. */
export function compareHere({ from, to }: Comparison): string | null {
  const options = {
    context: contextLines,
    timeout: compareTimeoutMs,
    headerOptions: FILE_HEADERS_ONLY,
  }
  const patch = createTwoFilesPatch(
    ...([from.name, to.name, from.text, to.text, undefined, undefined, options] as const),
  )
  return patch ?? null
}

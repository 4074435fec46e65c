/** Two texts against each other, as unified text. Other work goes on between the steps of the comparison. */
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff'

export interface NamedText {
  /** For the header. */
  readonly name: string
  readonly text: string
}

const contextLines = 3
/** Two texts of the limit that share nothing would take minutes. */
export const compareTimeoutMs = 5_000

/** Null when they differ too much to be compared in time. */
export function compareTexts(from: NamedText, to: NamedText): Promise<string | null> {
  return new Promise((resolve) => {
    createTwoFilesPatch(from.name, to.name, from.text, to.text, undefined, undefined, {
      context: contextLines,
      timeout: compareTimeoutMs,
      headerOptions: FILE_HEADERS_ONLY,
      // With a callback it lets other work go on.
      callback: (patch) => {
        resolve(patch ?? null)
      },
    })
  })
}

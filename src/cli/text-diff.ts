/** Formats the differences between two texts as a unified diff. */
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff'

interface Labelled {
  /** Name in the header, for example `folder/main.vcl`. */
  readonly label: string
  readonly text: string
}

/** Comparing two large texts with nothing in common would take minutes. */
const diffTimeoutMs = 5_000

export function diffTexts(from: Labelled, to: Labelled): string {
  const options = { context: 3, timeout: diffTimeoutMs, headerOptions: FILE_HEADERS_ONLY }
  const { label, text } = from
  const diff = createTwoFilesPatch(label, to.label, text, to.text, undefined, undefined, options)
  return diff ?? `--- ${label}\n+++ ${to.label}\n(too different to be compared)\n`
}

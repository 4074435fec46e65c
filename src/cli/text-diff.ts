/** What changed between two texts, as unified lines. */
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from 'diff'

interface Labelled {
  /** In the header: `folder/main.vcl`. */
  readonly label: string
  readonly text: string
}

/** Two large texts that share nothing would take minutes. */
const diffTimeoutMs = 5_000

export function diffTexts(from: Labelled, to: Labelled): string {
  const options = { context: 3, timeout: diffTimeoutMs, headerOptions: FILE_HEADERS_ONLY }
  const { label, text } = from
  const diff = createTwoFilesPatch(label, to.label, text, to.text, undefined, undefined, options)
  return diff ?? `--- ${label}\n+++ ${to.label}\n(too different to be compared)\n`
}

/** Splits large JSON into parts that are quick to parse: a list into some members at a time, anything else into one part. */
import { scanJson, type JsonLimits, type PartLimits } from './json-excess.js'

/** The JSON is over a limit and should not be parsed; the message begins with a verb. */
export class JsonExcess extends Error {}

/** A part ends at the first comma after this many bytes. */
const partBytes = 64 * 1024
const openList = 0x5b
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Yields the parts as texts, each valid JSON if the whole is: lists whose concatenated members are those of the whole list, or the
 * whole text. Null: a pause. Throws JsonExcess before the first part, and SyntaxError like JSON.parse.
 */
export function* splitJson(
  bytes: Buffer,
  limits: JsonLimits,
  part: PartLimits,
): Generator<string | null, void, void> {
  const isList = bytes[skipBlanks(bytes)] === openList
  const commas: number[] = []
  const scan = scanJson(bytes, limits, part, isList ? partBytes : Infinity)
  for (;;) {
    const step = scan.next()
    if (step.done === true) {
      if (step.value === null) break
      throw new JsonExcess(step.value)
    }
    commas.push(step.value)
    yield null
  }
  let from = 0
  for (const comma of commas) {
    yield `${from === 0 ? '' : '['}${bytes.toString('utf8', from, comma)}]`
    from = comma + 1
  }
  const last = bytes.toString('utf8', from)
  if (from > 0 && last.trim() === ']') throw new SyntaxError('a member is missing behind a comma')
  yield from === 0 ? last : `[${last}`
}

/** Gives up after the length of one part. */
function skipBlanks(bytes: Buffer): number {
  let at = 0
  while (at < partBytes && blanks.has(bytes[at] ?? 0)) at++
  return at
}

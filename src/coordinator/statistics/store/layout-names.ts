/** The names of a layout's series as text, and its digest, by which the same names are found again. */
import { createHash } from 'node:crypto'

export function encodeNames(names: readonly string[]): {
  readonly text: string
  readonly digest: string
} {
  const text = JSON.stringify(names)
  return { text, digest: createHash('sha256').update(text).digest('hex') }
}

/** Of a layout that is not there, none. */
export function decodeNames(text: string | undefined): readonly string[] {
  return JSON.parse(text ?? '[]') as string[] // written by encodeNames only
}

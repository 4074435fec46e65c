/** The names of a layout's series as text, with the digest by which equal lists are found. */
import { createHash } from 'node:crypto'

export function encodeNames(names: readonly string[]): {
  readonly text: string
  readonly digest: string
} {
  const text = JSON.stringify(names)
  return { text, digest: createHash('sha256').update(text).digest('hex') }
}

/** Returns no names for a missing layout. */
export function decodeNames(text: string | undefined): readonly string[] {
  return JSON.parse(text ?? '[]') as string[] // only written by encodeNames
}

/**
 * Entity tags of objects that users edit (RFC 9110, 8.8.3 and 13.1). A tag has two halves,
 * `"<edit digest>.<rest>"`. The first is made of what a PUT changes, and If-Match compares only that, so that heartbeats and
 * deploys, which change the answer too, do not make an editor's If-Match fail. If-None-Match compares the whole.
 */
import { hash } from 'node:crypto'
import { FleetError, type ErrorKey } from '../../errors.js'

/** Of 96 bits, as text. */
const digestLength = 16
const tagPattern = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g
const tagListPattern =
  /^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,\s*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*)?)*$/

/** The same while the object's `keys` are. Of references only what they refer to counts: a rename there is no edit here. */
export function digestEditable(object: object, keys: readonly string[]): string {
  return digest(JSON.stringify(keys.map((key) => withoutNames(Reflect.get(object, key)))))
}

/** `text`: all that the answer's body tells. */
export function makeTag(editDigest: string, text: string): string {
  return `"${editDigest}.${digest(text)}"`
}

/** The edit digests that the caller's If-Match allows; null: any. Throws FleetError 'invalid' for what is not a list of tags. */
export function readIfMatch(
  header: string | undefined,
  errorKey: ErrorKey,
): ReadonlySet<string> | null {
  if (header === undefined || header.trim() === '*') return null
  if (!tagListPattern.test(header))
    throw new FleetError(
      'invalid',
      errorKey,
      'If-Match is not a list of ETags; send the ETag of the GET as it came, with its quotes',
    )
  const digests = [...header.matchAll(tagPattern)].flatMap(([, weak, tag = '']) =>
    weak === undefined ? [tag.split('.', 1)[0] ?? ''] : [],
  )
  return new Set(digests)
}

/** Compared weakly, as the RFC says: a cache on the way may have made the tag weak. */
export function isUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return [...ifNoneMatch.matchAll(tagPattern)].some(([, , known = '']) => `"${known}"` === tag)
}

function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames)
  if (typeof value !== 'object' || value === null || !('id' in value)) return value ?? null
  return [value.id, 'version' in value ? value.version : null]
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, digestLength)
}

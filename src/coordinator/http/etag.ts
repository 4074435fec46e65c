/**
 * Entity tags of objects that users edit (RFC 9110, 8.8.3 and 13.1). A tag has two halves,
 * `"<edit digest>.<rest>"`. The first covers the fields that a PUT changes; If-Match compares only this half, so that heartbeats
 * and deploys do not make an editor's If-Match fail. If-None-Match compares the whole tag.
 */
import { hash } from 'node:crypto'
import { FleetError, type ErrorKey } from '../../errors.js'

/** A 96-bit digest as text. */
const digestLength = 16
const tagPattern = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g
const tagListPattern =
  /^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,\s*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*)?)*$/

/** Digest of the object's `keys`. References count by their ids only: renaming their target is not an edit of this object. */
export function digestEditable(object: object, keys: readonly string[]): string {
  return digest(JSON.stringify(keys.map((key) => withoutNames(Reflect.get(object, key)))))
}

/** `text` is the whole body of the answer. */
export function makeTag(editDigest: string, text: string): string {
  return `"${editDigest}.${digest(text)}"`
}

/** Returns the edit digests that If-Match allows, null for any. Throws FleetError 'invalid' for a malformed list of tags. */
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

/** Weak comparison, as the RFC requires: a cache in between may have made the tag weak. */
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

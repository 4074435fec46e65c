/**
 * The ids of the console: 24 hexadecimal digits (docs/behaviour.md, Console). The first two encode the kind, the
 * others the controller's id, so both APIs name the same objects without a lookup.
 */

const kinds = {
  group: 0x90,
  user: 0xa0,
  vcl: 0xb0,
  commit: 0xb1,
  cache: 0xc0,
  paramset: 0xd0,
  message: 0xe0,
} as const

export type ObjectKind = keyof typeof kinds

const digits = 24
const kindDigits = 2
/** A commit encodes two numbers: the file's id and the version in that file. */
const versionDigits = 8

/** Checks the form only. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text)
}

export function toObjectId(kind: ObjectKind, number: number): string {
  return prefixOf(kind) + number.toString(16).padStart(digits - kindDigits, '0')
}

/** Undefined: not an id of this kind. */
export function parseObjectId(kind: ObjectKind, text: string): number | undefined {
  if (!isIdOf(kind, text)) return undefined
  const number = Number.parseInt(text.slice(kindDigits), 16)
  return number > 0 && Number.isSafeInteger(number) ? number : undefined
}

/** Parses an id of any kind except a commit, which encodes a file and a version instead of one number: undefined. */
export function readObjectId(
  text: string,
): { readonly kind: ObjectKind; readonly number: number } | undefined {
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const number = kind === 'commit' ? undefined : parseObjectId(kind, text)
    if (number !== undefined) return { kind, number }
  }
  return undefined
}

export interface Commit {
  readonly fileId: number
  readonly version: number
}

export function toCommitId({ fileId, version }: Commit): string {
  const file = fileId.toString(16).padStart(digits - kindDigits - versionDigits, '0')
  return prefixOf('commit') + file + version.toString(16).padStart(versionDigits, '0')
}

export function parseCommitId(text: string): Commit | undefined {
  if (!isIdOf('commit', text)) return undefined
  const fileId = Number.parseInt(text.slice(kindDigits, -versionDigits), 16)
  const version = Number.parseInt(text.slice(-versionDigits), 16)
  return fileId > 0 && Number.isSafeInteger(fileId) && version > 0 ? { fileId, version } : undefined
}

function isIdOf(kind: ObjectKind, text: string): boolean {
  return isObjectId(text) && text.startsWith(prefixOf(kind))
}

function prefixOf(kind: ObjectKind): string {
  return kinds[kind].toString(16)
}

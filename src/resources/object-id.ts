/**
 * The ids of the console: 24 hexadecimal digits (docs/behaviour.md, Console). The first two tell the kind, the
 * others are the controller's id, so both APIs name the same objects without a lookup.
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
/** A commit has two numbers: its file's, and the version's in that file. */
const versionDigits = 8

/** By its form alone. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text)
}

export function toObjectId(kind: ObjectKind, number: number): string {
  return prefixOf(kind) + number.toString(16).padStart(digits - kindDigits, '0')
}

/** Undefined: it is the id of no such thing, whatever else it may be. */
export function parseObjectId(kind: ObjectKind, text: string): number | undefined {
  if (!isIdOf(kind, text)) return undefined
  const number = Number.parseInt(text.slice(kindDigits), 16)
  return number > 0 && Number.isSafeInteger(number) ? number : undefined
}

/** Whatever it is the id of. A commit's is that of its file and version, no number: undefined. */
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

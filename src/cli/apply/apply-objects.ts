/** The objects that `cachefleet apply` is about: as documents want them, and as they are on the coordinator. */

/** In the order in which they refer to each other: later kinds to earlier ones. */
export const applyKinds = ['tag', 'file', 'domain', 'deployment', 'vclgroup'] as const
export type ApplyKind = (typeof applyKinds)[number]

/** Lists are names, in order; an absent value is null. */
export type FieldValue = string | number | boolean | null | readonly string[]
export type ApplyFields = Readonly<Record<string, FieldValue>>

export interface ApplyObject {
  readonly kind: ApplyKind
  readonly name: string
  /** All that a document can say beside the name, defaults included; a file's content by its `sha`. */
  readonly fields: ApplyFields
}

export interface WantedObject extends ApplyObject {
  /** Of a group, whether it shall be deployed; undefined: it stays as it is. */
  readonly deployed?: boolean | undefined
}

export interface PresentObject extends ApplyObject {
  readonly id: number
  readonly managedBy: string | null
  /** When it was changed last, as the API answers it. */
  readonly updated?: string
  /** Of a tag: an agent sends it, so nobody can delete it. */
  readonly isSent?: boolean
  /** Of a file: the newest. */
  readonly version?: number
  /** Of a deployed group: what its newest deploy pinned. */
  readonly pins?: Pins | undefined
  /** Of a group: whether it shall be deployed. */
  readonly deployed?: boolean
  /** Of a group: it is the console's, and only read here. */
  readonly isOfConsole?: boolean
  /** Of a group: a cache that it is placed on has failed to load it. */
  readonly hasFailed?: boolean
}

/** What a deploy pinned, by the names that the objects have now. */
export interface Pins {
  readonly mainVCL: string
  /** File → version; the main file among them. */
  readonly files: ReadonlyMap<string, number>
  readonly domains: readonly string[]
  readonly deployments: readonly string[]
  /** Of the cache; none: any. */
  readonly releases: readonly string[]
  /** It waits for agents. */
  readonly pending: boolean
}

export function keyOf({ kind, name }: { readonly kind: ApplyKind; readonly name: string }): string {
  return `${kind} ${name}`
}

export interface ApplyReference {
  readonly field: string
  readonly kind: ApplyKind
  readonly name: string
}

const kindsReferred: Readonly<Record<string, ApplyKind>> = {
  tags: 'tag',
  mainVCL: 'file',
  includes: 'file',
  tests: 'file',
  domains: 'domain',
  deployments: 'deployment',
}

export function referencesOf({ fields }: Pick<ApplyObject, 'fields'>): readonly ApplyReference[] {
  return Object.entries(kindsReferred).flatMap(([field, kind]) => {
    const value = fields[field] ?? []
    const names = typeof value === 'string' ? [value] : Array.isArray(value) ? value : []
    return names.map((name: string) => ({ field, kind, name }))
  })
}

/** The objects that `cachefleet apply` handles: as documents define them, and as the coordinator has them. */

/** In reference order: later kinds refer to earlier ones. */
export const applyKinds = ['tag', 'file', 'domain', 'deployment', 'vclgroup'] as const
export type ApplyKind = (typeof applyKinds)[number]

/** Lists contain names, in order; an absent value is null. */
export type FieldValue = string | number | boolean | null | readonly string[]
export type ApplyFields = Readonly<Record<string, FieldValue>>

export interface ApplyObject {
  readonly kind: ApplyKind
  readonly name: string
  /** All fields of a document except the name, defaults included; a file's content is represented by its `sha`. */
  readonly fields: ApplyFields
}

export interface WantedObject extends ApplyObject {
  /** For a group: whether it should be deployed; undefined leaves it unchanged. */
  readonly deployed?: boolean | undefined
}

export interface PresentObject extends ApplyObject {
  readonly id: number
  readonly managedBy: string | null
  /** Time of the last change, as the API returns it. */
  readonly updated?: string
  /** For a tag: an agent reports it, so it cannot be deleted. */
  readonly isSent?: boolean
  /** For a file: its newest version. */
  readonly version?: number
  /** For a deployed group: what its newest deploy pinned. */
  readonly pins?: Pins | undefined
  /** For a group: whether it should be deployed. */
  readonly deployed?: boolean
  /** For a group: it belongs to the console and is read-only here. */
  readonly isOfConsole?: boolean
  /** For a group: a cache on which it is placed failed to load it. */
  readonly hasFailed?: boolean
}

/** What a deploy pinned, by the objects' current names. */
export interface Pins {
  readonly mainVCL: string
  /** File name → version, including the main file. */
  readonly files: ReadonlyMap<string, number>
  readonly domains: readonly string[]
  readonly deployments: readonly string[]
  /** Cache releases; an empty list allows any. */
  readonly releases: readonly string[]
  /** The deploy is waiting for agents. */
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

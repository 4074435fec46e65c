/** Fields that the objects of many nouns have. */

export const id = { kind: 'id' } as const

export const nameRules =
  '1 to 255 characters without controls, line separators and lone surrogates; case-sensitive'

export const organization = {
  kind: 'owner',
  description: "null: the system administrator's own; of an agent: shared by all",
} as const

/** Filled by `cachefleet apply`, which prunes by it. */
export const managedBy = {
  kind: 'name',
  nullable: true,
  description: 'The set of cachefleet apply that it belongs to; null: none',
  write: { nullable: true },
} as const

export const times = {
  created: { kind: 'time', column: 'createdAt' },
  updated: { kind: 'time', column: 'updatedAt' },
} as const

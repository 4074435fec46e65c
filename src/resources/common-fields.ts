/** Fields shared by the objects of many nouns. */

export const id = { kind: 'id' } as const
export const text = { kind: 'text' } as const
export const textOrNull = { kind: 'text', nullable: true } as const
export const texts = { kind: 'list', of: text } as const
export const time = { kind: 'time' } as const
export const timeOrNull = { kind: 'time', nullable: true } as const
export const integer = { kind: 'integer' } as const
export const integerOrNull = { kind: 'integer', nullable: true } as const
export const reference = { kind: 'reference' } as const
export const references = { kind: 'list', of: reference } as const

export const uniqueName = {
  kind: 'name',
  description:
    '1 to 255 characters without controls, line separators and lone surrogates; case-sensitive; ' +
    'unique in an organization',
  write: { required: true, summary: 'unique in the organization' },
} as const

/** The fields of each referenced object in a response. */
export const named = { id, name: text } as const

export const nameRules =
  '1 to 255 characters without controls, line separators and lone surrogates; case-sensitive'

export const organization = {
  kind: 'owner',
  description: "null: the system administrator's own; of an agent: shared by all",
} as const

/** Set by `cachefleet apply`, which uses it for pruning. */
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

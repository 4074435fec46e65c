/** What the API answers of unlocking: what it would change, and what became of many agents. */
import { Type } from 'typebox'
import { orNull, referenceSchema } from '../api/references.js'

const closed = { additionalProperties: false }

const names = Type.Array(Type.String())
export const differenceSchema = orNull(
  Type.Object(
    {
      use: orNull(Type.String({ description: 'The VCL that becomes active; null: none other' })),
      load: names,
      labels: Type.Array(Type.Object({ label: Type.String(), program: Type.String() }, closed)),
      discard: Type.Array(Type.String(), { description: 'Their sources are saved on the host' }),
      params: Type.Array(
        Type.Object(
          { name: Type.String(), value: orNull(Type.String({ description: 'null: default' })) },
          closed,
        ),
      ),
      backends: Type.Array(Type.Object({ name: Type.String(), health: Type.String() }, closed)),
      omitted: Type.Integer({ description: 'Entries beyond 100 a list' }),
    },
    {
      ...closed,
      description:
        'Of one agent alone: what an unlock would change on its cache. Null in lists, and when it is not locked or its agent has not told yet what the cache holds',
    },
  ),
)

export const unlockedSchema = Type.Object(
  {
    unlocked: Type.Array(referenceSchema),
    skipped: Type.Array(
      Type.Object(
        { agent: referenceSchema, reason: Type.String({ description: 'Why it stays as it is' }) },
        closed,
      ),
    ),
  },
  closed,
)

/** What the API answers of unlocking: what became of many agents. */
import { Type } from 'typebox'
import { referenceSchema } from '../api/references.js'

const closed = { additionalProperties: false }

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

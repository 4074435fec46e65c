/** What the API answers of join tokens. */
import { Type } from 'typebox'
import {
  idSchema,
  orNull,
  organizationSchema,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import type { JoinTokenRecord } from './join-tokens.js'
import { toIso } from '../api/times.js'

const closed = { additionalProperties: false }

export const joinTokenSchema = Type.Object(
  {
    id: idSchema,
    label: Type.String(),
    organization: organizationSchema,
    expires: orNull(Type.Integer({ description: 'Epoch seconds; null: never' })),
    maxUses: Type.Integer({ minimum: 1 }),
    uses: Type.Integer({ minimum: 0 }),
    tags: Type.Array(referenceSchema),
    created: timeSchema,
  },
  closed,
)

export function toJoinTokenView(token: JoinTokenRecord) {
  return {
    id: token.id,
    label: token.label,
    organization: token.organization,
    expires: token.expiresAt === null ? null : Math.floor(token.expiresAt / 1000),
    maxUses: token.maxUses,
    uses: token.uses,
    tags: token.tags,
    created: toIso(token.createdAt),
  }
}

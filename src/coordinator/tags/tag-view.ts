/** What the API answers of tags. */
import { Type } from 'typebox'
import { idSchema, managedBySchema, organizationSchema, timeSchema } from '../api/references.js'
import type { TagRecord } from './tags.js'
import { toTimes } from '../api/times.js'

const closed = { additionalProperties: false }

export const tagFields = {
  id: idSchema,
  name: Type.String(),
  static: Type.Boolean({ description: 'An agent sends it; of an agent: this agent sends it' }),
  created: timeSchema,
  updated: timeSchema,
}

export const tagSchema = Type.Object(
  { ...tagFields, organization: organizationSchema, managedBy: managedBySchema },
  closed,
)

export function toTagView(tag: TagRecord) {
  return {
    id: tag.id,
    name: tag.name,
    static: tag.static,
    organization: tag.organization,
    managedBy: tag.managedBy,
    ...toTimes(tag),
  }
}

/** What the API answers of tags. */
import { tag } from '../../resources/tag.js'
import { answeredAs } from '../api/resource-routes.js'
import type { TagRecord } from '../fleet/tag-queries.js'

export const tagAnswers = answeredAs(tag.fields, (record: TagRecord) => record)

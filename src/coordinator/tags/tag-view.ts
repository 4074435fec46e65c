/** What the API answers of tags. */
import { tag } from '../../resources/tag.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import type { TagRecord } from '../fleet/tag-queries.js'

export const tagSchema = answerSchema(tag.fields)

const makeAnswer = answerMaker(tag.fields)

export function toTagView(record: TagRecord) {
  return makeAnswer(record, record)
}

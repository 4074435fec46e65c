/** What the API answers of domains. */
import { domain } from '../../resources/domain.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import type { DomainRecord } from './domain-queries.js'

export const domainSchema = answerSchema(domain.fields)

const makeAnswer = answerMaker(domain.fields)

export function toDomainView(record: DomainRecord) {
  return makeAnswer(record, {})
}

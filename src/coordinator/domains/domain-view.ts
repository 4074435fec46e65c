/** What the API answers of domains. */
import { domain } from '../../resources/domain.js'
import { answeredAs } from '../api/resource-routes.js'
import type { DomainRecord } from './domain-queries.js'

export const domainAnswers = answeredAs<typeof domain.fields, DomainRecord>(
  domain.fields,
  () => ({}),
)

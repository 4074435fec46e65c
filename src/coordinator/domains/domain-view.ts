/** What the API answers of domains. */
import { Type } from 'typebox'
import { idSchema, managedBySchema, organizationSchema, timeSchema } from '../api/references.js'
import type { DomainRecord } from './domains.js'
import { toTimes } from '../api/times.js'

const closed = { additionalProperties: false }

export const domainSchema = Type.Object(
  {
    id: idSchema,
    fqdn: Type.String({ description: 'Lower case, ASCII; *. before it: all names below' }),
    organization: organizationSchema,
    managedBy: managedBySchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

export function toDomainView(domain: DomainRecord) {
  return {
    id: domain.id,
    fqdn: domain.fqdn,
    organization: domain.organization,
    managedBy: domain.managedBy,
    ...toTimes(domain),
  }
}

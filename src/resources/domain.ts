/** Domains: the host names that groups serve. */
import { id, managedBy, organization, times } from './common-fields.js'
import type { Answer, Resource } from './resource.js'

export const domain = {
  noun: 'domain',
  permission: 'domain',
  event: 'domain',
  path: '/domains',
  nameField: 'fqdn',
  columns: ['id', 'fqdn', 'organization'],
  fields: {
    id,
    fqdn: {
      kind: 'text',
      description:
        'A host name, as www.example.com, or *.example.com for all names below one; kept in lower case and ASCII',
      write: {
        required: true,
        summary: 'a host name, or *. before one for all names below it',
      },
    },
    organization,
    managedBy,
    ...times,
  },
} as const satisfies Resource

export type Domain = Answer<typeof domain.fields>

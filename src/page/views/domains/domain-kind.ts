/** What is the same of all domains. */
import type { NamedKind } from '../../parts/named-object.js'

export const domainKind: NamedKind = {
  ...{ noun: 'domain', title: 'Domains', path: '/domains', field: 'fqdn' },
  hint: 'As www.example.com; *.example.com for all names below',
}

/** `cachefleet domains`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'

export const domain = {
  name: 'domains',
  aliases: ['domain'],
  singular: 'domain',
  path: '/domains',
  nameField: 'fqdn',
  summary: 'the names that groups answer for',
  example: 'domains add --fqdn www.example.com',
  columns: [{ field: 'id' }, { field: 'fqdn' }, { field: 'organization' }],
  fields: [
    {
      name: 'fqdn',
      type: { kind: 'text' },
      summary: 'a host name, or *. before one for all names below it',
    },
  ],
} satisfies NounParts

export const domains: Noun = {
  ...domain,
  verbs: [
    listVerb(domain, '--sort fqdn'),
    getVerb(domain),
    addVerb(domain, '--fqdn www.example.com'),
    updateVerb(domain, '--fqdn shop.example.com'),
    deleteVerb(domain),
  ],
}

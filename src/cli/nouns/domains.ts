/** `cachefleet domains`. */
import { domainToASCII } from 'node:url'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'

export const domain = {
  name: 'domains',
  aliases: ['domain'],
  singular: 'domain',
  path: '/domains',
  nameField: 'fqdn',
  exampleObject: 'www.example.com',
  toStoredName: toAsciiDomain,
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

/** As the API keeps it: lower case, ASCII, no last dot. What has no such form stays as it was typed. */
function toAsciiDomain(typed: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?(.*)$/s.exec(typed) ?? []
  const ascii = domainToASCII(name.replace(/\.$/, ''))
  return ascii === '' ? typed : `${wildcard}${ascii}`
}

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

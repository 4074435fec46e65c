/** `cachefleet domains`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import { domain as resource } from '../../resources/domain.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

export const domain = toNounParts(resource, {
  exampleObject: 'www.example.com',
  summary: 'the names that groups answer for',
  example: 'domains add --fqdn www.example.com',
})

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

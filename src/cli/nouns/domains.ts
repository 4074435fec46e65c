/** `cachefleet domains`. */
import { objectVerbs } from '../object-verbs.js'
import { domain as resource } from '../../resources/domain.js'
import { ofDomain, statsVerb } from '../stats-verb.js'
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
    ...objectVerbs(domain, {
      list: '--sort fqdn',
      add: '--fqdn www.example.com',
      update: '--fqdn shop.example.com',
    }),
    statsVerb(domain, { ...ofDomain, words: ['domains', 'stats'] }),
  ],
}

/** `cachefleet stats`: current and past figures of caches, groups and domains. */
import { ofDomain, ofGroup, ofOneCache, statsVerb } from '../stats-verb.js'
import type { Noun, NounParts, Verb } from '../verb.js'
import { agents } from './agents.js'
import { domains } from './domains.js'
import { vclGroups } from './vclgroups.js'

const stats = {
  name: 'stats',
  aliases: ['stat'],
  singular: 'series',
  path: '/counters',
  nameField: 'name',
  summary: 'counters of a cache or summed over a group, and figures of a domain',
  example: 'stats agents edge-1 client_req cache_hit --from 1h',
  columns: [],
  fields: [],
} satisfies NounParts

export const statistics: Noun = {
  ...stats,
  verbs: [
    makeStatsVerb(agents, ofOneCache),
    makeStatsVerb(vclGroups, ofGroup),
    makeStatsVerb(domains, ofDomain),
    {
      name: 'counters',
      summary: 'the counters that are sampled of every cache that has them',
      example: 'stats counters',
      run: async (invocation) => (await import('../stats.js')).listCounters(invocation),
    },
  ],
}

/** The verb has the same spellings as the noun. */
function makeStatsVerb(noun: NounParts, of: typeof ofGroup): Verb {
  const verb = statsVerb(noun, { ...of, words: ['stats', noun.name] })
  return { ...verb, aliases: noun.aliases }
}

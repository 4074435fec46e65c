/** `cachefleet stats`: how caches and groups do, now and in the past. */
import type { Flag, Noun, NounParts, Verb } from '../verb.js'
import { agents } from './agents.js'
import { vclGroups } from './vclgroups.js'

const stats = {
  name: 'stats',
  aliases: ['stat'],
  singular: 'series',
  path: '/counters',
  nameField: 'name',
  summary: 'counters of a cache, or summed over a group',
  example: 'stats agents edge-1 client_req cache_hit --from 1h',
  columns: [],
  fields: [],
} satisfies NounParts

const flags: readonly Flag[] = [
  {
    form: '--function <name>',
    summary: 'AVERAGE (the default: per second), MIN, MAX, LAST or TOTAL (events)',
  },
  {
    form: '--from <time>',
    summary:
      'how long ago (30m, 12h, 7d), seconds since 1970, or 2026-01-31T12:00; 1h unless given',
  },
  { form: '--to <time>', summary: 'the same; now unless given' },
  { form: '--watch', summary: 'shows it again every few seconds, until Ctrl-C' },
]

export const statistics: Noun = {
  ...stats,
  verbs: [
    ...[show(agents, 'of one cache', 'edge-1'), show(vclGroups, 'summed over a group', 'site')],
    {
      name: 'counters',
      summary: 'the counters that are sampled of every cache that has them',
      example: 'stats counters',
      run: async (invocation) => (await import('../stats.js')).listCounters(invocation),
    },
  ],
}

function show(of: Noun, whose: string, example: string): Verb {
  return {
    name: of.name,
    summary: `counters ${whose}: newest, least, mean, most and their course; without names the usual ones`,
    arguments: ['<id>', '[counter...]'],
    flags,
    example: `stats ${of.name} ${example} client_req cache_hit --from 12h --function MAX`,
    run: async (invocation) => (await import('../stats.js')).showStats(invocation, of),
  }
}

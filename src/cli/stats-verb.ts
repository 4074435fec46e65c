/**
 * The grammar of statistics verbs for the counters of a cache or group and the figures of a domain: `stats agents ID`, and its equivalent
 * `agents stats ID`.
 */
import { nameExample } from './object-verbs.js'
import { isSet, type Flag, type NounParts, type Verb } from './verb.js'

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

/** `words`: the words before the id; the last one names the verb. */
export function statsVerb(
  of: NounParts,
  {
    words,
    what,
    sample = 'client_req cache_hit',
  }: {
    readonly words: readonly [string, string]
    readonly what: string
    /** Counter names for the example. */
    readonly sample?: string
  },
): Verb {
  return {
    name: words[1],
    summary: `${what}: newest, least, mean, most and their course; without names the usual ones`,
    arguments: ['<id>', '[counter...]'],
    flags,
    example: `${words.join(' ')} ${nameExample(of)} ${sample} --from 12h --function MAX`,
    run: async (invocation) =>
      isSet(invocation, 'watch')
        ? (await import('./stats-watch.js')).watchStats(invocation, of)
        : (await import('./stats.js')).showStats(invocation, of),
  }
}

export const ofOneCache = { what: 'counters of one cache' }
export const ofGroup = { what: 'counters summed over a group' }
export const ofDomain = {
  what: 'figures of the requests for a domain',
  sample: 'requests status_5xx',
}

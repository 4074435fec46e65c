/** Counters of a cache or of a group, as the grammar knows them: `stats agents ID`, and the same as `agents stats ID`. */
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

/** `words`: what is typed before the id; the last of them names the verb. */
export function statsVerb(
  of: NounParts,
  { words, whose }: { readonly words: readonly [string, string]; readonly whose: string },
): Verb {
  return {
    name: words[1],
    summary: `counters ${whose}: newest, least, mean, most and their course; without names the usual ones`,
    arguments: ['<id>', '[counter...]'],
    flags,
    example: `${words.join(' ')} ${nameExample(of)} client_req cache_hit --from 12h --function MAX`,
    run: async (invocation) =>
      isSet(invocation, 'watch')
        ? (await import('./stats-watch.js')).watchStats(invocation, of)
        : (await import('./stats.js')).showStats(invocation, of),
  }
}

export const ofOneCache = 'of one cache'
export const ofGroup = 'summed over a group'

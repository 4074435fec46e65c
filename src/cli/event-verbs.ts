/** The grammar of `cachefleet events`. */
import type { Verb } from './verb.js'

export const eventVerbs: readonly Verb[] = [
  {
    name: 'events',
    summary: 'prints what changes, as it changes, until Ctrl-C',
    flags: [
      {
        form: '--type <types>',
        summary:
          'only these, joined by commas: agent, deployment, invalidation, apilog (the four without --type); file, vclgroup, domain, tag',
      },
      { form: '--after <id>', summary: 'begin after this event, at most an hour ago; else now' },
    ],
    example: 'events --type agent,deployment',
    run: async (invocation) => (await import('./events.js')).printEvents(invocation),
  },
]

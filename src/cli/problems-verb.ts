/** The grammar of `cachefleet problems`. */
import type { Verb } from './verb.js'

export const problemsVerb: Verb = {
  name: 'problems',
  summary: 'what is wrong now, the worst first: on which object, since when, and what mends it',
  example: 'problems',
  run: async (invocation) => (await import('./problems.js')).showProblems(invocation),
}

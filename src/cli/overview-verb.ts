/** The grammar of `cachefleet overview`. */
import type { Verb } from './verb.js'

export const overviewVerb: Verb = {
  name: 'overview',
  summary: 'the fleet at a glance: states, traffic, problems, last changes',
  example: 'overview',
  run: async (invocation) => (await import('./overview.js')).showOverview(invocation),
}

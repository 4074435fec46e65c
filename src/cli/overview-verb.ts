/** `cachefleet overview`, as the grammar knows it. */
import type { Verb } from './verb.js'

export const overviewVerb: Verb = {
  name: 'overview',
  summary: 'the fleet at one look: states, traffic, what is wrong, what changed last',
  example: 'overview',
  run: async (invocation) => (await import('./overview.js')).showOverview(invocation),
}

/** `cachefleet export`. */
import type { Verb } from './verb.js'

export const exportVerb: Verb = {
  name: 'export',
  summary:
    'writes tags, files, domains, deployments and VCL groups to a new folder, as `apply` takes it',
  arguments: ['<dir>'],
  flags: [{ form: '--set <name>', summary: 'only what belongs to this set of `apply`' }],
  example: 'export fleet/',
  run: async (invocation) => (await import('./apply/export-fleet.js')).exportFleet(invocation),
}

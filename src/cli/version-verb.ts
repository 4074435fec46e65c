/** `cachefleet version`. */
import type { Verb } from './verb.js'

export const versionVerb: Verb = {
  name: 'version',
  summary:
    'prints the version; with --all those of coordinators, agents and caches, and which do not fit: ends with 1 then',
  flags: [
    { form: '--all', summary: 'ask the coordinator' },
    {
      form: '--coordinators <urls>',
      summary: 'with --all: further coordinators of the fleet, separated by commas',
    },
  ],
  example: 'version --all',
  run: async (invocation) => (await import('./versions.js')).showVersions(invocation),
}

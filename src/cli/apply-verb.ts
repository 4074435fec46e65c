/** `cachefleet apply`. */
import { yesFlag } from './confirm.js'
import { testsFlag } from './group-tests.js'
import { waitFlags } from './nouns/vclgroups.js'
import type { Verb } from './verb.js'

export const applyVerb: Verb = {
  name: 'apply',
  summary:
    'creates and changes tags, files, domains, deployments and VCL groups as a folder of YAML or JSON says; ends with the state of what it deploys: 0 Active, 3 Degraded, 4 in progress, 1 Error',
  flags: [
    { form: '-f, --folder <dir>', summary: 'its *.yaml, *.yml and *.json are the documents' },
    {
      form: '--plan',
      summary:
        'show what would change and where it would go, change nothing; exit 0: nothing to do, 2: changes, 1: it cannot',
    },
    { form: '--prune', summary: 'delete what belongs to the set and has no document any more' },
    {
      form: '--set <name>',
      summary:
        'whose the objects are; else of the document `kind: set`, else the name of the folder',
    },
    { form: '--adopt', summary: 'take over what was created by hand or belongs to another set' },
    { form: '--schema', summary: 'print the JSON schema of the documents' },
    testsFlag,
    ...waitFlags,
    yesFlag,
  ],
  example: 'apply -f fleet/ --plan',
  run: async (invocation) => (await import('./apply/apply.js')).apply(invocation),
}

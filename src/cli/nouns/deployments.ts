/** `cachefleet deployments`. */
import { objectVerbs } from '../object-verbs.js'
import { deployment as resource } from '../../resources/deployment.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

export const deployment = toNounParts(resource, {
  alias: 'dep',
  summary: 'which agents groups are placed on: by tags, at least min, at most max',
  example: 'deployments add --name web --tags web --min 1 --max 3',
})

export const deployments: Noun = {
  ...deployment,
  verbs: objectVerbs(deployment, {
    list: '--filter stateName=Error',
    add: '--name web --tags web --max 3',
    update: '--max 5',
    force: 'also when a deployed group falls below its min by this',
  }),
}

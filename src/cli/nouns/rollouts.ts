/** `cachefleet rollouts`: deploys that switch in waves. `vclgroups deploy` starts them. */
import { rollout as resource } from '../../resources/rollout.js'
import { getVerb, listVerb } from '../object-verbs.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun, Verb } from '../verb.js'
import { forceFlag } from './vclgroups.js'

const rollout = toNounParts(resource, {
  summary: 'deploys that switch in waves, and go back where a gate fails',
  example: 'rollouts watch 7',
})

const summaries = {
  pause: 'pauses it: its waves stay as they are',
  resume: 'resumes a paused rollout: its wave bakes again',
  advance: 'ends the bake, or a pause, as passed: the next wave begins',
  abort: 'aborts it: all agents go back to the previous release',
} as const

/** While the organization is frozen, only an administrator may use these. */
const changesCaches = new Set(['resume', 'advance'])

export const rollouts: Noun = {
  ...rollout,
  verbs: [
    listVerb(rollout, '--filter stateName=Baking'),
    getVerb(rollout),
    {
      name: 'watch',
      summary: 'shows its waves, agents and gates, live, until it ends',
      arguments: ['<id>'],
      example: 'rollouts watch 7',
      run: async (invocation) =>
        (await import('../watch-rollout.js')).watchRollout(invocation, rollout),
    },
    ...Object.entries(summaries).map(([name, summary]): Verb => ({
      name,
      summary,
      arguments: ['<id>'],
      ...(changesCaches.has(name) && { flags: [forceFlag] }),
      example: `rollouts ${name} 7`,
      run: async (invocation) =>
        (await import('../watch-rollout.js')).changeRollout(invocation, rollout, name),
    })),
  ],
}

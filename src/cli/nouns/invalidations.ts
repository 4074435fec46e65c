/** `cachefleet invalidations`: the progress of bans and purges. The verbs `ban` and `purge` create them. */
import { requireFields } from '../api-shapes.js'
import { openObject } from '../find-object.js'
import { addVerb, deleteVerb, getVerb, listVerb } from '../object-verbs.js'
import { showObject } from '../output.js'
import { invalidation as resource } from '../../resources/invalidation.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun, Verb } from '../verb.js'

const invalidation = toNounParts(resource, {
  alias: 'inv',
  summary: 'bans and purges: their progress on each agent',
  example: 'invalidations list --sort id:desc --take 20',
})

export const invalidations: Noun = {
  ...invalidation,
  verbs: [
    listVerb(invalidation, '--filter stateName=Waiting'),
    getVerb(invalidation),
    addVerb(invalidation, '--data @ban.json'),
    changeVerb('retry', 'retries it where it is not done'),
    changeVerb('cancel', 'cancels what is pending'),
    deleteVerb(invalidation),
  ],
}

function changeVerb(name: 'retry' | 'cancel', summary: string): Verb {
  return {
    name,
    summary,
    arguments: ['<id>'],
    example: `invalidations ${name} 7`,
    run: async (invocation) => {
      const { api, path } = await openObject(invocation, invalidation)
      const { body } = await api.call({ method: 'PUT', path: `${path}/${name}` })
      showObject(invocation.output, requireFields(body))
      return undefined
    },
  }
}

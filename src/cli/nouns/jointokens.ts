/** `cachefleet jointokens`. */
import { joinToken as resource } from '../../resources/join-token.js'
import { addVerb, deleteVerb, listVerb } from '../object-verbs.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun, NounParts } from '../verb.js'
import { tag } from './tags.js'

const parts = toNounParts(resource, {
  exampleObject: 'edge',
  summary: 'what new agents enrol with; the token is shown once',
  example: 'jointokens add --label edge --max-uses 10 --tags web',
})

const joinToken: NounParts = {
  ...parts,
  fields: [
    ...parts.fields,
    {
      name: 'tags',
      type: { kind: 'references', of: tag, newNames: true },
      summary: 'assigned to its agents, by id or name; new names create tags',
    },
  ],
}

export const joinTokens: Noun = {
  ...joinToken,
  verbs: [
    listVerb(joinToken, '--sort created:desc'),
    addVerb(joinToken, '--label edge --max-uses 10 --expires 7d'),
    deleteVerb(joinToken),
  ],
}

/** `cachefleet jointokens`. */
import { addVerb, deleteVerb, listVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'
import { tag } from './tags.js'

const joinToken = {
  name: 'jointokens',
  aliases: ['jointoken'],
  singular: 'jointoken',
  path: '/jointokens',
  nameField: 'label',
  exampleObject: 'edge',
  summary: 'what lets new agents in; the token is shown once',
  example: 'jointokens add --label edge --max-uses 10 --tags web',
  columns: [
    { field: 'id' },
    { field: 'label' },
    { field: 'uses' },
    { field: 'maxUses', title: 'max uses' },
    { field: 'expires' },
    { field: 'tags' },
    { field: 'created' },
  ],
  fields: [
    { name: 'label', type: { kind: 'text' }, summary: 'what it is for' },
    { name: 'maxUses', type: { kind: 'integer' }, summary: 'agents it lets in; 1 unless given' },
    { name: 'expires', type: { kind: 'moment' }, summary: 'never unless given' },
    {
      name: 'tags',
      type: { kind: 'references', of: tag, newNames: true },
      summary: 'given to its agents, by id or name; new names make tags',
    },
  ],
} satisfies NounParts

export const joinTokens: Noun = {
  ...joinToken,
  verbs: [
    listVerb(joinToken, '--sort created:desc'),
    addVerb(joinToken, '--label edge --max-uses 10 --expires 7d'),
    deleteVerb(joinToken),
  ],
}

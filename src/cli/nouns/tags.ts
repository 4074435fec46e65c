/** `cachefleet tags`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'

export const tag = {
  name: 'tags',
  aliases: ['tag'],
  singular: 'tag',
  path: '/tags',
  nameField: 'name',
  summary: 'what agents are labelled with, and deployments choose them by',
  example: 'tags add --name web',
  columns: [{ field: 'id' }, { field: 'name' }, { field: 'static' }, { field: 'organization' }],
  fields: [{ name: 'name', type: { kind: 'text' }, summary: 'unique in the organization' }],
} satisfies NounParts

export const tags: Noun = {
  ...tag,
  verbs: [
    listVerb(tag, '--sort name'),
    getVerb(tag),
    addVerb(tag, '--name web'),
    updateVerb(tag, '--name edge'),
    deleteVerb(tag),
  ],
}

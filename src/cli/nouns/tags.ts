/** `cachefleet tags`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import { tag as resource } from '../../resources/tag.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

export const tag = toNounParts(resource, {
  summary: 'what agents are labelled with, and deployments choose them by',
  example: 'tags add --name web',
})

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

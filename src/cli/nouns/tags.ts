/** `cachefleet tags`. */
import { objectVerbs } from '../object-verbs.js'
import { tag as resource } from '../../resources/tag.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

export const tag = toNounParts(resource, {
  summary: 'what agents are labelled with, and deployments choose them by',
  example: 'tags add --name web',
})

export const tags: Noun = {
  ...tag,
  verbs: objectVerbs(tag, { list: '--sort name', add: '--name web', update: '--name edge' }),
}

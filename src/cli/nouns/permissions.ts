/** `cachefleet permissions`. */
import { permission as resource } from '../../resources/user-permission.js'
import { objectVerbs } from '../object-verbs.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  summary: 'what regular users may read and write, by type of object',
  example: 'permissions add --account anna --type file --write',
})

const permission: NounParts = {
  ...parts,
  aliases: ['perm', 'permission'],
  fields: [...parts.fields, ownerField('by id or name')],
}

export const permissions: Noun = {
  ...permission,
  verbs: objectVerbs(permission, {
    list: '--filter account.name=anna',
    add: '--account anna --type file --write',
    update: '--no-write',
  }),
}

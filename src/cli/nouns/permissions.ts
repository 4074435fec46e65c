/** `cachefleet permissions`. */
import { permission as resource } from '../../resources/user-permission.js'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
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
  verbs: [
    listVerb(permission, '--filter account.name=anna'),
    getVerb(permission),
    addVerb(permission, '--account anna --type file --write'),
    updateVerb(permission, '--no-write'),
    deleteVerb(permission),
  ],
}

/** `cachefleet users`. */
import { user as resource } from '../../resources/user.js'
import { objectVerbs } from '../object-verbs.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  exampleObject: 'anna',
  summary: 'accounts in an organization, as administrators or regular users',
  example: 'users list --filter role=administrator',
})

// A role is changed by naming another one; it cannot be cleared.
const fields = parts.fields.map((field) => ({ ...field, clearable: false }))
const user: NounParts = { ...parts, fields: [...fields, ownerField('by id or name')] }

export const users: Noun = {
  ...user,
  verbs: objectVerbs(user, {
    list: '--filter account.name=anna',
    add: '--account anna --role regular',
    update: '--role administrator',
  }),
}

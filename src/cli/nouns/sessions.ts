/** `cachefleet sessions`. */
import { deleteVerb, listVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'

const session = {
  name: 'sessions',
  aliases: ['session'],
  singular: 'session',
  path: '/sessions',
  nameField: null,
  summary: 'who is logged in; delete ends a login',
  example: 'sessions list --sort lastUsed:desc',
  columns: [
    { field: 'id' },
    { field: 'account' },
    { field: 'organization' },
    { field: 'label' },
    { field: 'created' },
    { field: 'lastUsed', title: 'last used' },
  ],
  fields: [],
} satisfies NounParts

export const sessions: Noun = {
  ...session,
  verbs: [listVerb(session, '--sort lastUsed:desc'), deleteVerb(session)],
}

/** `cachefleet sessions`. */
import { addVerb, deleteVerb, listVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'

const session = {
  name: 'sessions',
  aliases: ['session'],
  singular: 'session',
  path: '/sessions',
  nameField: 'label',
  exampleObject: 'ci',
  summary: 'who is logged in, and API tokens for programs',
  example: 'sessions list --sort lastUsed:desc',
  columns: [
    { field: 'id' },
    { field: 'account' },
    { field: 'organization' },
    { field: 'label' },
    { field: 'permissions' },
    { field: 'created' },
    { field: 'lastUsed', title: 'last used' },
  ],
  fields: [
    { name: 'label', type: { kind: 'text' }, summary: 'what the token is for' },
    {
      name: 'expire',
      type: { kind: 'moment' },
      summary: 'when it ends, at most a year away',
    },
    {
      name: 'permissions',
      type: { kind: 'grants' },
      summary: 'what it may at most: tag:read,file:write',
    },
  ],
} satisfies NounParts

export const sessions: Noun = {
  ...session,
  verbs: [
    listVerb(session, '--sort lastUsed:desc'),
    addVerb(session, '--label ci --expire 90d --permissions tag:read,file:write'),
    deleteVerb(session),
  ],
}

/** `cachefleet sessions`. */
import { session as resource } from '../../resources/session.js'
import { addVerb, deleteVerb, listVerb } from '../object-verbs.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun, NounParts } from '../verb.js'

const session: NounParts = {
  ...toNounParts(resource, {
    exampleObject: 'ci',
    summary: 'who is logged in, and API tokens for programs',
    example: 'sessions list --sort lastUsed:desc',
  }),
  fields: [
    { name: 'label', type: { kind: 'text' }, summary: 'what the token is for' },
    {
      name: 'expire',
      type: { kind: 'moment' },
      summary: 'when it expires, at most a year ahead',
    },
    {
      name: 'permissions',
      type: { kind: 'grants' },
      summary: 'what it may at most: tag:read,file:write',
    },
  ],
}

export const sessions: Noun = {
  ...session,
  verbs: [
    listVerb(session, '--sort lastUsed:desc'),
    addVerb(session, '--label ci --expire 90d --permissions tag:read,file:write'),
    deleteVerb(session),
  ],
}

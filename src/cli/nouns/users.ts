/** `cachefleet users`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'
import { account } from './accounts.js'
import { organization } from './organizations.js'

const user = {
  name: 'users',
  aliases: ['user'],
  singular: 'user',
  path: '/users',
  nameField: 'account.name',
  exampleObject: 'anna',
  summary: 'accounts in an organization, as administrators or regular users',
  example: 'users list --filter role=administrator',
  columns: [
    { field: 'id' },
    { field: 'account' },
    { field: 'organization' },
    { field: 'role' },
    { field: 'created' },
  ],
  fields: [
    {
      name: 'account',
      type: { kind: 'reference', of: account },
      summary: 'by id or name',
      only: 'add',
    },
    {
      name: 'role',
      type: { kind: 'text' },
      summary: 'administrator or regular; the first user of an organization is its administrator',
    },
    {
      name: 'organization',
      type: { kind: 'reference', of: organization },
      summary: 'by id or name; for the system administrator',
      only: 'add',
    },
  ],
} satisfies NounParts

export const users: Noun = {
  ...user,
  verbs: [
    listVerb(user, '--filter account.name=anna'),
    getVerb(user),
    addVerb(user, '--account anna --role regular'),
    updateVerb(user, '--role administrator'),
    deleteVerb(user),
  ],
}

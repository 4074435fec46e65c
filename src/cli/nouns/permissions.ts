/** `cachefleet permissions`. */
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Noun, NounParts } from '../verb.js'
import { account } from './accounts.js'
import { organization } from './organizations.js'

const permission = {
  name: 'permissions',
  aliases: ['perm', 'permission'],
  singular: 'permission',
  path: '/permissions',
  nameField: null,
  summary: 'what regular users may read and write, by type of object',
  example: 'permissions add --account anna --type file --write',
  columns: [
    { field: 'id' },
    { field: 'account' },
    { field: 'organization' },
    { field: 'type' },
    { field: 'read' },
    { field: 'write' },
  ],
  fields: [
    {
      name: 'account',
      type: { kind: 'reference', of: account },
      summary: 'a user of the organization, by id or name',
      only: 'add',
    },
    {
      name: 'type',
      type: { kind: 'text' },
      summary: 'vclgroup, deployment, file, domain, tag, agent, …',
      only: 'add',
    },
    { name: 'read', type: { kind: 'boolean' }, summary: 'true unless given' },
    { name: 'write', type: { kind: 'boolean' }, summary: 'implies read; false unless given' },
    {
      name: 'organization',
      type: { kind: 'reference', of: organization },
      summary: 'by id or name; for the system administrator',
      only: 'add',
    },
  ],
} satisfies NounParts

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

/** `cachefleet accounts`. */
import { fieldFlags } from '../field-flags.js'
import { deleteVerb, getVerb, listVerb } from '../object-verbs.js'
import { passwordFlags } from '../password-flags.js'
import type { Noun, NounParts } from '../verb.js'
import { organization } from './organizations.js'

export const account = {
  name: 'accounts',
  aliases: ['account'],
  singular: 'account',
  path: '/accounts',
  nameField: 'name',
  exampleObject: 'anna',
  summary: 'who may log in',
  example: 'accounts add anna --password-file anna.txt',
  columns: [
    { field: 'id' },
    { field: 'name' },
    { field: 'email' },
    { field: 'locked' },
    { field: 'organizations' },
    { field: 'created' },
  ],
  fields: [
    { name: 'name', type: { kind: 'text' }, summary: 'unique in the whole store', only: 'update' },
    { name: 'email', type: { kind: 'text' }, summary: 'empty: none', clearable: true },
    { name: 'locked', type: { kind: 'boolean' }, summary: 'it cannot log in, its tokens stop' },
    {
      name: 'organization',
      type: { kind: 'reference', of: organization },
      summary: 'whose it is, and a user of, by id or name; for the system administrator',
      only: 'add',
    },
    {
      name: 'organizations',
      type: { kind: 'references', of: organization },
      summary: 'of which it is a user, by id or name; for the system administrator',
      clearable: true,
    },
  ],
} satisfies NounParts

export const accounts: Noun = {
  ...account,
  verbs: [
    listVerb(account, '--filter organizations.name=shop'),
    getVerb(account),
    {
      name: 'add',
      summary: 'makes an account; asks for its password on a terminal',
      arguments: ['<name>'],
      flags: [...fieldFlags(account.fields, 'add'), ...passwordFlags],
      example: 'accounts add anna --password-stdin',
      run: async (invocation) =>
        (await import('../change-account.js')).addAccount(invocation, account),
    },
    {
      name: 'update',
      summary: 'changes an account; what is not given stays',
      arguments: ['<id|name>'],
      flags: [...fieldFlags(account.fields, 'update'), ...passwordFlags],
      example: 'accounts update anna --locked',
      run: async (invocation) =>
        (await import('../change-account.js')).updateAccount(invocation, account),
    },
    deleteVerb(account),
  ],
}

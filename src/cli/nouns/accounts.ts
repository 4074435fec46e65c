/** `cachefleet accounts`. */
import { account as resource } from '../../resources/account.js'
import { fieldFlags } from '../field-flags.js'
import { deleteVerb, getVerb, listVerb } from '../object-verbs.js'
import { passwordFlags } from '../password-flags.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Field, Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  exampleObject: 'anna',
  summary: 'who may log in',
  example: 'accounts add anna --password-file anna.txt',
})

const account: NounParts = { ...parts, fields: parts.fields.flatMap(toFields) }

/** A new one's name is an argument. */
function toFields(field: Field): readonly Field[] {
  if (field.name === 'name') return [{ ...field, only: 'update' }]
  const isMember = field.name === 'organizations'
  return isMember ? [ownerField('whose it is, and a user of, by id or name'), field] : [field]
}

export const accounts: Noun = {
  ...account,
  verbs: [
    listVerb(account, '--filter organizations.name=shop'),
    getVerb(account),
    {
      name: 'add',
      summary: 'creates an account; asks for its password on a terminal',
      arguments: ['<name>'],
      flags: [...fieldFlags(account.fields, 'add'), ...passwordFlags],
      example: 'accounts add anna --password-stdin',
      run: async (invocation) => {
        const { readNewAccount } = await import('../secret-bodies.js')
        const { addObject } = await import('../object-calls.js')
        return addObject(invocation, account, readNewAccount)
      },
    },
    {
      name: 'update',
      summary: 'changes an account; what is not given does not change',
      arguments: ['<id|name>'],
      flags: [...fieldFlags(account.fields, 'update'), ...passwordFlags],
      example: 'accounts update anna --locked',
      run: async (invocation) => {
        const { readAccountChange } = await import('../secret-bodies.js')
        const { updateObject } = await import('../object-calls.js')
        return updateObject(invocation, account, readAccountChange)
      },
    },
    deleteVerb(account),
  ],
}

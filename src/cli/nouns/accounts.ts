/** `cachefleet accounts`. */
import { account as resource } from '../../resources/account.js'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import { passwordFlags } from '../password-flags.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Field, Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  exampleObject: 'anna',
  summary: 'who may log in',
  example: 'accounts add anna --password-file anna.txt',
})

const account: NounParts = { ...parts, fields: parts.fields.flatMap(toFields) }

/** A new account's name is an argument, not a flag. */
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
    addVerb(account, 'anna --password-stdin', {
      summary: 'creates an account; asks for its password on a terminal',
      arguments: ['<name>'],
      flags: passwordFlags,
      importReader: async () => (await import('../secret-bodies.js')).readNewAccount,
    }),
    updateVerb(account, '--locked', {
      flags: passwordFlags,
      importReader: async () => (await import('../secret-bodies.js')).readAccountChange,
    }),
    deleteVerb(account),
  ],
}

/** `cachefleet idps`. */
import { idp as resource } from '../../resources/idp.js'
import { fieldFlags } from '../field-flags.js'
import { deleteVerb, getVerb, idArgument, listVerb } from '../object-verbs.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Flag, Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  exampleObject: 'shop',
  summary: "where an organization's people log in (OpenID Connect)",
  example: 'idps add --base-url https://idp.example.com --client-id fleet --client-secret-stdin',
})

const idp: NounParts = {
  ...parts,
  singular: 'identity provider',
  fields: [...parts.fields, ownerField('whose it is, by id or name')],
}

const secretFlags: readonly Flag[] = [
  { form: '--client-secret-stdin', summary: 'the secret is the first line of standard input' },
  { form: '--client-secret-file <file>', summary: 'the secret is the first line of a file' },
]

export const idps: Noun = {
  ...idp,
  verbs: [
    listVerb(idp, '--filter organization.name=shop'),
    getVerb(idp),
    {
      name: 'add',
      summary: 'sets up the identity provider of an organization',
      flags: [...fieldFlags(idp.fields, 'add'), ...secretFlags],
      example:
        'idps add --base-url https://idp.example.com --client-id fleet --client-secret-stdin',
      run: async (invocation) => {
        const { readIdp } = await import('../secret-bodies.js')
        return (await import('../object-calls.js')).addObject(invocation, idp, readIdp)
      },
    },
    {
      name: 'update',
      summary: 'changes an identity provider; what is not given does not change',
      arguments: [idArgument(idp)],
      flags: [
        ...fieldFlags(idp.fields, 'update'),
        ...secretFlags,
        { form: '--no-client-secret', summary: 'none: a client without a secret' },
      ],
      example: 'idps update shop --role-claim realm_access.roles',
      run: async (invocation) => {
        const { readIdp } = await import('../secret-bodies.js')
        return (await import('../object-calls.js')).updateObject(invocation, idp, readIdp)
      },
    },
    deleteVerb(idp),
  ],
}

/** `cachefleet idps`. */
import { idp as resource } from '../../resources/idp.js'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
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

const importReader = async () => (await import('../secret-bodies.js')).readIdp

export const idps: Noun = {
  ...idp,
  verbs: [
    listVerb(idp, '--filter organization.name=shop'),
    getVerb(idp),
    addVerb(idp, '--base-url https://idp.example.com --client-id fleet --client-secret-stdin', {
      summary: 'sets up the identity provider of an organization',
      flags: secretFlags,
      importReader,
    }),
    updateVerb(idp, '--role-claim realm_access.roles', {
      flags: [
        ...secretFlags,
        { form: '--no-client-secret', summary: 'none: a client without a secret' },
      ],
      importReader,
    }),
    deleteVerb(idp),
  ],
}

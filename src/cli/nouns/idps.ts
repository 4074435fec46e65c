/** `cachefleet idps`. */
import { fieldFlags } from '../field-flags.js'
import { deleteVerb, getVerb, idArgument, listVerb } from '../object-verbs.js'
import type { Flag, Noun, NounParts } from '../verb.js'
import { organization } from './organizations.js'

const idp = {
  name: 'idps',
  aliases: ['idp'],
  singular: 'identity provider',
  path: '/idps',
  nameField: 'organization.name',
  exampleObject: 'shop',
  summary: "where an organization's people log in (OpenID Connect)",
  example: 'idps add --base-url https://idp.example.com --client-id fleet --client-secret-stdin',
  columns: [
    { field: 'id' },
    { field: 'organization' },
    { field: 'baseURL', title: 'base URL' },
    { field: 'clientID', title: 'client ID' },
    { field: 'scopes' },
    { field: 'roleClaim', title: 'role claim' },
  ],
  fields: [
    {
      name: 'baseURL',
      type: { kind: 'text' },
      summary: "the provider's issuer: https, or http on loopback",
    },
    { name: 'clientID', type: { kind: 'text' }, summary: 'what the provider knows the fleet as' },
    {
      name: 'scopes',
      type: { kind: 'words' },
      summary: 'asked for, separated by commas; openid,profile,email unless given',
      clearable: true,
    },
    {
      name: 'roleClaim',
      type: { kind: 'text' },
      summary: 'claim that says what people may do; nothing is mapped unless given',
      clearable: true,
    },
    {
      name: 'organization',
      type: { kind: 'reference', of: organization },
      summary: 'whose it is, by id or name; for the system administrator',
      only: 'add',
    },
  ],
} satisfies NounParts

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
      run: async (invocation) => (await import('../change-idp.js')).addIdp(invocation, idp),
    },
    {
      name: 'update',
      summary: 'changes an identity provider; what is not given stays',
      arguments: [idArgument(idp)],
      flags: [
        ...fieldFlags(idp.fields, 'update'),
        ...secretFlags,
        { form: '--no-client-secret', summary: 'none: a client without a secret' },
      ],
      example: 'idps update shop --role-claim realm_access.roles',
      run: async (invocation) => (await import('../change-idp.js')).updateIdp(invocation, idp),
    },
    deleteVerb(idp),
  ],
}

/** `cachefleet organizations`. */
import { yesFlag } from '../confirm.js'
import { addVerb, deleteVerb, getVerb, listVerb, updateVerb } from '../object-verbs.js'
import type { Flag, Noun, NounParts } from '../verb.js'

export const organization = {
  name: 'organizations',
  aliases: ['org', 'organization'],
  singular: 'organization',
  path: '/organizations',
  nameField: 'name',
  exampleObject: 'shop',
  summary: 'separate owners of objects on one fleet',
  example: 'organizations add --name shop',
  columns: [
    { field: 'id' },
    { field: 'name' },
    { field: 'locked' },
    { field: 'accessTTL', title: 'access TTL' },
    { field: 'refreshTTL', title: 'refresh TTL' },
    { field: 'created' },
  ],
  fields: [
    { name: 'name', type: { kind: 'text' }, summary: 'unique' },
    {
      name: 'accessTTL',
      type: { kind: 'integer' },
      summary: 'lifetime of access tokens in seconds; 600 unless given',
      clearable: true,
    },
    {
      name: 'refreshTTL',
      type: { kind: 'integer' },
      summary: 'lifetime of refresh tokens in seconds; 3600 unless given',
      clearable: true,
    },
    { name: 'locked', type: { kind: 'boolean' }, summary: 'nobody logs in, tokens stop counting' },
    {
      name: 'quotas',
      type: { kind: 'numbers' },
      summary:
        'how much it may have, as files=100,agents=20; what is left out has its default: the API document has them',
      clearable: true,
    },
  ],
} satisfies NounParts

const accountFlag: Flag = { form: '--account <account>', summary: 'by id or name' }

export const organizations: Noun = {
  ...organization,
  verbs: [
    listVerb(organization, '--sort name'),
    getVerb(organization),
    addVerb(organization, '--name shop'),
    updateVerb(organization, '--locked'),
    deleteVerb(organization),
    {
      name: 'assign',
      summary: 'makes an account a user: the first as administrator, later ones as regular',
      arguments: ['<id|name>'],
      flags: [accountFlag],
      example: 'organizations assign shop --account anna',
      run: async (invocation) =>
        (await import('../assign-account.js')).assignAccount(invocation, organization),
    },
    {
      name: 'unassign',
      summary: 'takes an account out, with what it may do there',
      arguments: ['<id|name>'],
      flags: [accountFlag, yesFlag],
      example: 'organizations unassign shop --account anna --yes',
      run: async (invocation) =>
        (await import('../assign-account.js')).unassignAccount(invocation, organization),
    },
  ],
}

/** `cachefleet organizations`. */
import { organization as resource } from '../../resources/organization.js'
import { yesFlag } from '../confirm.js'
import { objectVerbs } from '../object-verbs.js'
import { toNounParts } from '../resource-noun.js'
import type { Flag, Noun, NounParts } from '../verb.js'

const organization: NounParts = {
  ...toNounParts(resource, {
    exampleObject: 'shop',
    summary: 'separate owners of objects on one fleet',
    example: 'organizations add --name shop',
  }),
  aliases: ['org', 'organization'],
}

const accountFlag: Flag = { form: '--account <account>', summary: 'by id or name' }

export const organizations: Noun = {
  ...organization,
  verbs: [
    ...objectVerbs(organization, { list: '--sort name', add: '--name shop', update: '--locked' }),
    {
      name: 'freeze',
      summary: 'keeps its groups from being deployed for a while; a rollback is not kept from',
      arguments: ['<id|name>'],
      flags: [
        { form: '--until <time>', summary: 'when it ends: 12h, a date, seconds since 1970' },
        {
          form: '--reason <text>',
          summary: 'the reason, shown to users whose deploys are refused',
        },
      ],
      example: "organizations freeze shop --until 3d --reason 'sale'",
      run: async (invocation) =>
        (await import('../freeze-organization.js')).freezeOrganization(invocation, organization),
    },
    {
      name: 'unfreeze',
      summary: 'ends a freeze',
      arguments: ['<id|name>'],
      example: 'organizations unfreeze shop',
      run: async (invocation) =>
        (await import('../freeze-organization.js')).unfreezeOrganization(invocation, organization),
    },
    {
      name: 'assign',
      summary: 'adds an account as a user: the first as administrator, later ones as regular',
      arguments: ['<id|name>'],
      flags: [accountFlag],
      example: 'organizations assign shop --account anna',
      run: async (invocation) =>
        (await import('../assign-account.js')).assignAccount(invocation, organization),
    },
    {
      name: 'unassign',
      summary: 'removes an account, with its permissions there',
      arguments: ['<id|name>'],
      flags: [accountFlag, yesFlag],
      example: 'organizations unassign shop --account anna --yes',
      run: async (invocation) =>
        (await import('../assign-account.js')).unassignAccount(invocation, organization),
    },
  ],
}

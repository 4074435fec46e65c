/** Organizations: separate owners of objects on one fleet. */
import { id, nameRules, times } from './common-fields.js'
import { frozen } from './freeze.js'
import { defaultQuotas, describeQuota, findMaxQuota, quotaNames, type QuotaName } from './quota.js'
import type { Answer, Resource } from './resource.js'

/** A year, in seconds. */
const maxTtlSeconds = 31_536_000

const quotas = Object.fromEntries(
  quotaNames.map((name) => [
    name,
    {
      maximum: findMaxQuota(name),
      default: defaultQuotas[name],
      description: describeQuota(name),
    },
  ]),
) as Readonly<Record<QuotaName, { maximum: number; default: number; description: string }>>

export const organization = {
  noun: 'organization',
  permission: 'org',
  path: '/organizations',
  nameField: 'name',
  columns: ['id', 'name', 'locked', 'accessTTL', 'refreshTTL', 'created'],
  fields: {
    id,
    name: {
      kind: 'name',
      description: `${nameRules}; unique`,
      write: { required: true, summary: 'unique' },
    },
    accessTTL: {
      kind: 'integer',
      minimum: 1,
      maximum: maxTtlSeconds,
      column: 'accessTtlSeconds',
      title: 'access TTL',
      description: 'lifetime of its access tokens, seconds',
      write: {
        nullable: true,
        default: 600,
        summary: 'lifetime of access tokens in seconds; 600 unless given',
      },
    },
    refreshTTL: {
      kind: 'integer',
      minimum: 1,
      maximum: maxTtlSeconds,
      column: 'refreshTtlSeconds',
      title: 'refresh TTL',
      description: 'lifetime of its refresh tokens, seconds; at least accessTTL',
      write: {
        nullable: true,
        default: 3600,
        summary: 'lifetime of refresh tokens in seconds; 3600 unless given',
      },
    },
    locked: {
      kind: 'flag',
      description: 'its login and tokens are disabled',
      write: {
        nullable: true,
        default: false,
        summary: 'its users cannot log in and its tokens are refused',
      },
    },
    frozen,
    quotas: {
      kind: 'numbers',
      nullable: true,
      of: quotas,
      description:
        'how much it may have; written by the system administrator, as a whole. Left out: the default; null: all defaults',
      write: {
        nullable: true,
        summary:
          'how much it may have, as files=100,agents=20; what is left out has its default: the API document has them',
      },
    },
    ...times,
  },
} as const satisfies Resource

export type Organization = Answer<typeof organization.fields>

/** How much an organization may have, and how what a process has in all is shared between organizations. */
import type { ErrorKey } from '../errors.js'

/** What each has that is given no number of its own. */
export const defaultQuotas = {
  invalidations: 10_000,
  files: 2_000,
  fileBytes: 256 * 1024 * 1024,
  vclgroups: 2_000,
  deployments: 2_000,
  domains: 2_000,
  tags: 2_000,
  agents: 2_000,
  accounts: 1_000,
  listeners: 500,
  liveSubscriptions: 100,
  webhooks: 20,
  certificates: 500,
} as const

export type QuotaName = keyof typeof defaultQuotas
export type Quotas = Readonly<Record<QuotaName, number>>
/** Those that differ from the defaults. */
export type GivenQuotas = Readonly<Partial<Quotas>>

export const quotaNames = Object.keys(defaultQuotas) as readonly QuotaName[]

/** Far beyond what one store holds; a larger number is a slip. */
export function findQuotaMost(name: QuotaName): number {
  return name === 'fileBytes' ? 2 ** 40 : 1_000_000
}

/** `given`: null, all as by default. */
export function completeQuotas(given: GivenQuotas | null): Quotas {
  return { ...defaultQuotas, ...given }
}

/** What the quota counts, in words, and what makes room. */
const meanings: Readonly<Record<QuotaName, readonly [things: string, remedy: string]>> = {
  invalidations: ['open invalidations', 'cancel some'],
  files: ['files', 'delete some'],
  fileBytes: ['bytes of file versions', 'delete files'],
  vclgroups: ['VCL groups', 'delete some'],
  deployments: ['deployments', 'delete some'],
  domains: ['domains', 'delete some'],
  tags: ['tags', 'delete some'],
  agents: ['agents', 'delete some'],
  accounts: ['accounts', 'delete some'],
  listeners: ['listeners of events', 'end some'],
  liveSubscriptions: ['live subscriptions', 'end some'],
  webhooks: ['webhooks', 'delete some'],
  certificates: ['certificates', 'delete some'],
}

export const quotaErrorKeys = {
  files: 'file',
  fileBytes: 'file',
  vclgroups: 'vclgroup',
  deployments: 'deployment',
  domains: 'domain',
  tags: 'tag',
  agents: 'agent',
  accounts: 'account',
  webhooks: 'webhook',
  certificates: 'certificate',
} as const satisfies Partial<Record<QuotaName, ErrorKey>>
/** Of what is kept in rows: counted where one is made. */
export type ObjectQuota = keyof typeof quotaErrorKeys

export function describeQuota(name: QuotaName): string {
  return meanings[name][0]
}

export function describeFullQuota(organization: string, name: QuotaName, quota: number): string {
  const [things, remedy] = meanings[name]
  const who = `organization ${JSON.stringify(organization)}`
  const many = quota.toLocaleString('en-US')
  return `${who} has its quota of ${many} ${things}; ${remedy}, or ask the system administrator for more`
}

/** What there is in all of something that organizations share. */
interface SharedTotal {
  readonly total: number
  /** By all together. */
  readonly used: number
  /** By the one that wants more. */
  readonly held: number
  readonly wanted: number
}

/**
 * How many more one organization may take. The last tenth is for those that hold little, at most a twentieth of the total: whatever
 * one organization takes, another one still gets its first ones, until many together have filled the total.
 */
export function findFairRoom({ total, used, held }: Omit<SharedTotal, 'wanted'>): number {
  const untilLastTenth = total - Math.ceil(total / 10) - used
  const ofLastTenth = Math.floor(total / 20) - held
  return Math.max(0, Math.min(total - used, Math.max(untilLastTenth, ofLastTenth)))
}

export function hasFairRoom({ wanted, ...shared }: SharedTotal): boolean {
  return wanted <= findFairRoom(shared)
}

export function describeFullShare(organization: string, total: string): string {
  return `${total} are nearly all taken, and organization ${JSON.stringify(organization)} holds its share of them; end some`
}

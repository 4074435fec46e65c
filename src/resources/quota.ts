/** Quotas of organizations, and fair shares of a process's total resources. */
import type { ErrorKey } from '../errors.js'

/** The quotas of an organization without its own numbers. */
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
/** Quotas that differ from the defaults. */
export type GivenQuotas = Readonly<Partial<Quotas>>

export const quotaNames = Object.keys(defaultQuotas) as readonly QuotaName[]

/** Far beyond what one store holds; a larger number is a mistake. */
export function findMaxQuota(name: QuotaName): number {
  return name === 'fileBytes' ? 2 ** 40 : 1_000_000
}

/** `given` null: all defaults. */
export function completeQuotas(given: GivenQuotas | null): Quotas {
  return { ...defaultQuotas, ...given }
}

/** What each quota counts, in words, and how to free some. */
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
/** Quotas on stored objects: checked when one is created. */
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

/** A total resource that organizations share. */
interface SharedTotal {
  readonly total: number
  /** Used by all organizations together. */
  readonly used: number
  /** Held by the requesting organization. */
  readonly held: number
  readonly wanted: number
}

/**
 * How many more one organization may take. The last tenth is reserved for organizations that hold at most a twentieth of the total:
 * one organization cannot keep others from their first ones; only many together can fill the total.
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

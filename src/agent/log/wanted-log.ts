/** What a reader wants of the log: whether this host allows it, and the options of the tool. */
import type { WantedLog } from '../../messages/live-log.js'
import { sampleQuery } from '../../traffic/figures.js'
import { judgeLogQuery } from '../../traffic/judge-query.js'
import { lineFormat } from '../../traffic/log-line.js'
import { parseLogQuery } from '../../traffic/log-query.js'
import type { Masking } from '../../traffic/masking.js'
import type { LogRun } from './log-child.js'
import type { ServedGroup, ServedGroups } from './served-groups.js'

/** Only this host knows what it masks. Throws FleetError 'invalid'. */
export function judgeWanted(
  { query, masksClients }: WantedLog,
  masking: Omit<Masking, 'masksClients'>,
): void {
  if (query === null) return
  judgeLogQuery(query, parseLogQuery(query), {
    isBound: false,
    masking: { ...masking, masksClients },
  })
}

export function isWanted({ groups, domain }: WantedLog, group: ServedGroup | null): boolean {
  if (domain !== null && group?.fqdn !== domain) return false
  return groups === null || (group !== null && groups.includes(group.groupId))
}

/** Names of the VCL whose records an organization's stream contains; null: all. */
export function ownNames({ groups }: WantedLog, served: ServedGroups): RegExp | null {
  return groups === null ? null : new RegExp(served.namesOf(groups))
}

/** An organization's stream asks only for what its own VCL served; the tool does not print the rest. */
export function toRun(
  { query, sample, groups, withRecords }: WantedLog,
  served: ServedGroups,
): LogRun {
  const parts = [
    query === null ? null : `(${query})`,
    sampleQuery(sample),
    groups === null ? null : `VCL_use ~ "${served.namesOf(groups)}"`,
  ].filter((part) => part !== null)
  const whole = parts.length === 0 ? null : parts.join(' and ')
  return { format: withRecords ? null : lineFormat, query: whole, fetches: true, bound: null }
}

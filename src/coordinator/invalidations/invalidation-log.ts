/** Reads the invalidation log for delivery: entries with their agents, and the order that an agent receives. */
import { groupBy } from '../../group-by.js'
import { rootHolder, type Coverage } from './invalidation.js'
import { purgeSecret } from '../../vcl/prologue.js'
import { hostName, parsePurgeUrl } from './purge-url.js'
import type { InvalidationOrder, PurgeRequest } from '../../messages/coordinator-to-agent.js'
import { readSets } from './target-queries.js'
import {
  readCacheKeys,
  readCursor,
  readLogAfter,
  readLogEnd,
  readLogOfAgent,
  type LogEntry,
} from './delivery-queries.js'
import type { StateService } from '../service.js'
import { listHosts } from './invalidation-target.js'

export interface DeliverableEntry extends LogEntry {
  /** Keyed by agent. */
  readonly coverages: ReadonlyMap<number, Coverage>
  /** Of groups that purges are sent to. */
  readonly secrets: ReadonlyMap<number, string>
}

/** Reads the log; entries share the data of their sets. */
export interface InvalidationLog {
  readEnd(): Promise<number>
  readAfter(position: number, limit: number): Promise<readonly DeliverableEntry[]>
  readOfAgent(agentId: number, after: number, limit: number): Promise<readonly DeliverableEntry[]>
  /** The agent's cursor, 0 if it never received an entry. */
  readCursor(agentId: number): Promise<number>
}

/** Limit of set members kept in memory, about 100 bytes each. */
const maxKeptMembers = 200_000

export function openInvalidationLog({ store }: StateService): InvalidationLog {
  const sets = new Map<number, ReadonlyMap<number, Coverage>>()
  const { queries } = store
  return {
    readEnd: () => readLogEnd(queries),
    readAfter: async (position, limit) => complete(await readLogAfter(queries, position, limit)),
    readOfAgent: async (agentId, after, limit) =>
      complete(await readLogOfAgent(queries, agentId, after, limit)),
    readCursor: async (agentId) => (await readCursor(queries, agentId))?.position ?? 0,
  }

  async function complete(entries: readonly LogEntry[]): Promise<readonly DeliverableEntry[]> {
    const unknown = new Set(
      entries.map(({ attemptSetId }) => attemptSetId).filter((id) => !sets.has(id)),
    )
    for (const [setId, members] of await readSets(queries, [...unknown]))
      sets.set(setId, new Map(members.map(({ agentId, coverage }) => [agentId, coverage])))
    const secrets = await readSecrets(entries)
    const completed = entries.map((entry) => ({
      ...entry,
      secrets,
      coverages: sets.get(entry.attemptSetId) ?? new Map<number, Coverage>(),
    }))
    forgetOldest()
    return completed
  }

  async function readSecrets(entries: readonly LogEntry[]): Promise<ReadonlyMap<number, string>> {
    const purges = groupBy(
      entries.filter(({ content }) => content.type === 'purge'),
      ({ attemptSetId }) => attemptSetId,
    )
    const groupIds = new Set<number>()
    for (const setId of purges.keys())
      for (const coverage of sets.get(setId)?.values() ?? [])
        if ('holders' in coverage)
          for (const holder of coverage.holders) if (holder !== null) groupIds.add(holder)
    groupIds.delete(rootHolder)
    const keys = await readCacheKeys(queries, [...groupIds])
    return new Map([...keys].map(([id, key]) => [id, purgeSecret(key)]))
  }

  function forgetOldest(): void {
    let members = 0
    for (const { size } of sets.values()) members += size
    for (const [setId, { size }] of sets) {
      if (members <= maxKeptMembers) return
      sets.delete(setId)
      members -= size
    }
  }
}

export interface ComposedOrder {
  /** Its age is as of when it was composed. */
  readonly order: InvalidationOrder
  /** Approximate size as JSON. */
  readonly bytes: number
}

/** Agents with the same coverage receive the same order. */
const composed = new WeakMap<DeliverableEntry, Map<Coverage, ComposedOrder>>()

/** Returns the order for this agent, the same object for the same coverage; undefined if the entry is not for it. */
export function composeOrder(entry: DeliverableEntry, agentId: number): ComposedOrder | undefined {
  const coverage = entry.coverages.get(agentId)
  if (!coverage) return undefined
  const known = composed.get(entry) ?? new Map<Coverage, ComposedOrder>()
  composed.set(entry, known)
  const found = known.get(coverage)
  if (found) return found
  const order = toOrder(entry, coverage)
  const made = { order, bytes: Buffer.byteLength(JSON.stringify(order)) }
  known.set(coverage, made)
  return made
}

function toOrder(
  { position, content, secrets }: DeliverableEntry,
  coverage: Coverage,
): InvalidationOrder {
  if (content.type === 'ban') {
    const expressions = content.expressions.map((terms) =>
      terms.map(({ field, operator, value }) => [field, operator, value] as const),
    )
    const groups = 'groups' in coverage ? coverage.groups : []
    return { position, ageMs: 0, ban: { expressions, groups }, purge: null }
  }
  const { urls, method, headers } = content
  const hosts = listHosts(urls)
  const holders = 'holders' in coverage ? coverage.holders : []
  const requests = urls.flatMap((text): PurgeRequest[] => {
    const { host, path } = parsePurgeUrl(text)
    const holder = holders[hosts.indexOf(hostName({ host }))] ?? null
    return holder === null ? [] : [{ host, path, secret: secrets.get(holder) ?? null }]
  })
  return { position, ageMs: 0, ban: null, purge: { method, headers, requests } }
}

/** Selects the agents of a log reader, and the groups on each (docs/behaviour.md, Live log). */
import { agentStates } from '../../resources/agent-state.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { readIds, requireFound } from '../api/id-lists.js'
import { requireAccess } from '../api/references.js'
import { selectDomains } from '../domains/domain-queries.js'
import { selectAgents } from '../fleet/agent-queries.js'
import { selectGroupIds } from '../fleet/group-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { selectTags } from '../fleet/tag-queries.js'
import { scopeOf, type StateService } from '../service.js'
import type { AskedLog } from './log-streams.js'

interface SelectorQuery {
  readonly agents?: string
  readonly tags?: string
  readonly vclGroup?: number
  readonly domain?: number
}

export interface SelectedCaches {
  readonly caches: readonly SelectedCache[]
  /** The domain as configured; null: all domains. */
  readonly domain: string | null
}

interface SelectedCache {
  readonly agentId: number
  readonly name: string
  /** Only requests of these groups; null: all requests of the cache. */
  readonly groups: readonly number[] | null
}

const maxCaches = 200
/** The number of caches listed in an error with the reason why their log cannot be read. */
const maxLacking = 3
const errorKey = 'log'
const agentList = { name: 'agents', most: maxCaches, errorKey } as const
const tagList = { name: 'tags', most: maxCaches, errorKey } as const

/** Throws FleetError: 'invalid' for objects the caller may not see, 'unavailable' if no selected cache can be read. */
export async function selectCaches(
  service: StateService,
  actor: Actor,
  query: SelectorQuery,
): Promise<SelectedCaches> {
  const { queries } = service.store
  const { readable: agents, lacking } = await findAgents(service, actor, query)
  const domain = query.domain === undefined ? null : await findDomain(service, actor, query.domain)
  const groupIds = await findGroups(service, actor, query)
  const ids = agents.map(({ id }) => id)
  const places =
    groupIds === null || ids.length === 0
      ? null
      : groupBy(
          (await readPlacements(queries, { agentIds: ids })).filter(({ groupId }) =>
            groupIds.has(groupId),
          ),
          ({ agentId }) => agentId,
        )
  const caches = agents.flatMap(({ id, name }): SelectedCache[] => {
    if (places === null) return [{ agentId: id, name, groups: null }]
    const groups = [...new Set(places.get(id)?.map(({ groupId }) => groupId))]
    return groups.length === 0 ? [] : [{ agentId: id, name, groups }]
  })
  if (caches.length === 0)
    throw new FleetError(
      'unavailable',
      errorKey,
      [
        'no cache of these can be read: its agent must be up, have the capability log, and serve the group',
        ...lacking.slice(0, maxLacking).map(({ name, logTrouble }) => `${name}: ${logTrouble}`),
      ].join('; '),
    )
  if (caches.length > maxCaches)
    throw new FleetError(
      'invalid',
      errorKey,
      `these are ${caches.length} caches, at most ${maxCaches} are read at once; narrow them by agents, tags or vclGroup`,
    )
  return { caches, domain }
}

async function findAgents(service: StateService, actor: Actor, { agents, tags }: SelectorQuery) {
  const { queries } = service.store
  const scope = scopeOf(actor)
  let rows = selectAgents(queries, scope)
    .clearSelect()
    .select([
      'agents.id',
      'agents.name',
      'agents.state',
      'agents.capabilities',
      'agents.logTrouble',
    ])
    .orderBy('agents.id')
  if (agents !== undefined) rows = rows.where('agents.id', 'in', readIds(agents, agentList))
  if (tags !== undefined) {
    requireAccess(actor, 'tag', 'read', errorKey)
    const tagIds = readIds(tags, tagList)
    const known = await selectTags(queries, scope).where('tags.id', 'in', tagIds).execute()
    requireFound(tagIds, new Set(known.map(({ id }) => id)), tagList)
    for (const tagId of tagIds)
      rows = rows.where('agents.id', 'in', (e) =>
        e.selectFrom('agentTags').select('agentId').where('tagId', '=', tagId),
      )
  }
  const found = await rows.execute()
  if (agents !== undefined)
    requireFound(readIds(agents, agentList), new Set(found.map(({ id }) => id)), agentList)
  const isUp = found.filter(({ state }) => state !== agentStates.Down)
  const readable = isUp.filter(
    ({ capabilities }) => (JSON.parse(capabilities) as unknown[]).includes('log'), // written by the coordinator
  )
  return { readable, lacking: isUp.filter(({ logTrouble }) => logTrouble !== null) }
}

/** Null: all requests. An organization reads only requests of its own groups, on any cache. */
async function findGroups(
  service: StateService,
  actor: Actor,
  { vclGroup, domain }: SelectorQuery,
): Promise<ReadonlySet<number> | null> {
  if (actor.organizationId === null && vclGroup === undefined) return null
  if (vclGroup !== undefined || domain !== undefined)
    requireAccess(actor, 'vclgroup', 'read', errorKey)
  const rows = await selectGroupIds(service.store.queries, scopeOf(actor)).execute()
  const ids = new Set(rows.map(({ id }) => id))
  if (vclGroup === undefined) return ids
  requireFound([vclGroup], ids, { name: 'vclGroup', errorKey })
  return new Set([vclGroup])
}

async function findDomain(service: StateService, actor: Actor, id: number): Promise<string> {
  requireAccess(actor, 'domain', 'read', errorKey)
  const row = await selectDomains(service.store.queries, scopeOf(actor))
    .where('domains.id', '=', id)
    .executeTakeFirst()
  if (!row) throw new FleetError('invalid', errorKey, `domain: ${id} was not found`)
  return row.fqdn
}

/** One order per cache. */
export function toAsked(
  { caches, domain }: SelectedCaches,
  wanted: Omit<AskedLog['wanted'], 'groups' | 'domain'>,
): readonly AskedLog[] {
  return caches.map(({ agentId, groups }) => ({ agentId, wanted: { ...wanted, groups, domain } }))
}

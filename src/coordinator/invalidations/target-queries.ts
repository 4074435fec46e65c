/** Queries for targets of invalidations: agents, the groups on them, and the agent sets that entries share. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Capability } from '../../resources/capability.js'
import type { Coverage } from './invalidation.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import type { MemberProgress } from './invalidation-results.js'
import { visibleAgents, within, type Scope } from '../store/scope.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'
import { rememberAnswers, rememberOf } from '../../runtime/bounded-cache.js'

/** Selects agents; every agent in scope if empty. */
export interface TargetedBy {
  readonly agentIds?: readonly number[]
  /** Agents with all of these tags. */
  readonly tagIds?: readonly number[]
  /** Agents where one of these groups is placed. */
  readonly groupIds?: readonly number[]
  /** The caches of this console group, whether it is placed there yet or not. */
  readonly memberOf?: number
}

export interface TargetAgent {
  readonly id: number
  readonly name: string
  readonly state: AgentState
  readonly capabilities: readonly Capability[]
}

interface NamedAgent extends TargetAgent {
  readonly lockedBecause: string | null
}

/** Sorted by id. */
export async function readNamedAgents(
  queries: Queries,
  scope: Scope,
  agentIds: readonly number[],
): Promise<NamedAgent[]> {
  const rows = await selectTargetAgents(queries, scope, { agentIds })
    .select(['id', 'name', 'state', 'capabilities', 'lockedBecause'])
    .orderBy('id')
    .execute()
  // Written by use cases only.
  return rows.map(({ capabilities, ...row }) => ({
    ...row,
    state: row.state as AgentState,
    capabilities: parseCapabilities(capabilities),
  }))
}

/**
 * Sorted by id; the same list object while nothing changes. The database returns the fleet as one text, which takes a fraction
 * of the time of one row per agent, and it is parsed only if it differs.
 */
export async function readTargetAgents(
  queries: Queries,
  scope: Scope,
  by: TargetedBy,
): Promise<readonly TargetAgent[]> {
  const values = [sql`id`, sql`state`, sql`name`, sql`capabilities`]
  const texts = values.map((value) => sql`cast(${value} as text)`)
  const line = sql.join(texts, sql` || ${sql.lit(separator)} || `)
  const { text } = await queries
    .selectFrom(
      selectTargetAgents(queries, scope, by)
        .select(['id', 'state', 'name', 'capabilities'])
        .orderBy('id')
        .as('found'),
    )
    .select(sql<string | null>`string_agg(${line}, ${sql.lit(separator)})`.as('text'))
    .executeTakeFirstOrThrow()
  return parseTargetAgents(text ?? '')
}

/** Separator that no value contains: names have no control characters, and JSON escapes them. */
const separator = '\n'
const valuesOfAgent = 4
/** Limit of lists kept in memory, about 400 bytes per agent. */
const listsKept = 4

const parseTargetAgents = rememberAnswers(listsKept, (text: string): readonly TargetAgent[] => {
  const values = text === '' ? [] : text.split(separator)
  const agents = Array.from({ length: values.length / valuesOfAgent }, (_, index) => {
    const [id, state, name = '', capabilities = '[]'] = values.slice(valuesOfAgent * index)
    return {
      id: Number(id),
      name,
      state: Number(state) as AgentState, // written by the use cases only
      capabilities: parseCapabilities(capabilities),
    }
  })
  return agents.toSorted((a, b) => a.id - b.id)
})

function selectTargetAgents(
  queries: Queries,
  scope: Scope,
  { agentIds, tagIds, groupIds, memberOf }: TargetedBy,
) {
  let agents = queries.selectFrom('agents').where(visibleAgents(scope))
  if (agentIds) agents = agents.where('id', 'in', [...agentIds])
  if (memberOf !== undefined)
    agents = agents.where('id', 'in', (e) =>
      e.selectFrom('groupMembers').select('agentId').where('groupId', '=', memberOf),
    )
  else if (groupIds)
    agents = agents.where('id', 'in', (e) =>
      e
        .selectFrom('placements')
        .select('agentId')
        .where('groupId', 'in', [...groupIds]),
    )
  for (const tagId of tagIds ?? [])
    agents = agents.where('id', 'in', (e) =>
      e.selectFrom('agentTags').select('agentId').where('tagId', '=', tagId),
    )
  return agents
}

/** A fleet has only a few distinct ones. */
const maxParsed = 100

const parseCapabilities = rememberAnswers(
  maxParsed,
  (json: string): readonly Capability[] => JSON.parse(json) as Capability[], // as registration writes it
)

interface GroupOnAgent {
  readonly agentId: number
  readonly groupId: number
  readonly isRoot: boolean
}

/** Placements of groups in scope, and of their stages. */
export async function readGroupsOnAgents(
  queries: Queries,
  scope: Scope,
  { groupIds, agentIds }: Pick<TargetedBy, 'groupIds' | 'agentIds'>,
): Promise<GroupOnAgent[]> {
  let places = queries
    .selectFrom('placements')
    .innerJoin('vclGroups', 'vclGroups.id', 'placements.groupId')
    .select(['placements.agentId', 'placements.groupId', 'vclGroups.root'])
    .distinct()
    .where(within(scope, 'placements'))
  if (groupIds) places = places.where('placements.groupId', 'in', [...groupIds])
  if (agentIds) places = places.where('placements.agentId', 'in', [...agentIds])
  const rows = await places.execute()
  return rows.map(({ root, ...row }) => ({ ...row, isRoot: root === 1 }))
}

/** Returns serving texts on these agents, of groups in scope: at most `limit`, none longer than `maxLength`. */
export async function readServedTexts(
  queries: Queries,
  scope: Scope,
  { groupIds, agentIds }: Pick<TargetedBy, 'groupIds' | 'agentIds'>,
  { limit, maxLength }: { readonly limit: number; readonly maxLength: number },
): Promise<string[]> {
  let places = queries
    .selectFrom('placements')
    .select('placements.currentSha')
    .where(within(scope, 'placements'))
  if (groupIds) places = places.where('placements.groupId', 'in', [...groupIds])
  if (agentIds) places = places.where('placements.agentId', 'in', [...agentIds])
  const rows = await queries
    .selectFrom('sources')
    .select('sources.text')
    .where('sources.sha', 'in', places)
    .where(sql<number>`length(sources.text)`, '<=', maxLength)
    .limit(limit)
    .execute()
  return rows.map(({ text }) => text)
}

/** Returns which groups hold these names on which agents, regardless of owner. */
export async function readNamesOnAgents(
  queries: Queries,
  fqdns: readonly string[],
): Promise<{ agentId: number; groupId: number; fqdn: string }[]> {
  if (fqdns.length === 0) return []
  return queries
    .selectFrom('placementDomains')
    .select(['agentId', 'groupId', 'fqdn'])
    .where('fqdn', 'in', [...new Set(fqdns)])
    .execute()
}

/** Groups that are placed somewhere with one of these domains. */
export async function readGroupIdsWithDomains(
  queries: Queries,
  scope: Scope,
  fqdns: readonly string[],
): Promise<number[]> {
  const rows = await queries
    .selectFrom('placementDomains')
    .innerJoin('vclGroups', 'vclGroups.id', 'placementDomains.groupId')
    .select('vclGroups.id')
    .distinct()
    .where('placementDomains.fqdn', 'in', [...fqdns])
    .where(within(scope, 'vclGroups'))
    .execute()
  return rows.map(({ id }) => id)
}

export interface SetMember {
  readonly agentId: number
  readonly coverage: Coverage
}

const findSet = prepareQuery((queries) =>
  queries.selectFrom('invalidationSets').select('id').where('digest', '=', ''),
)

const digestMembers = rememberOf((members: readonly SetMember[]): string => {
  const lines = writeCoverages(members).map(({ agentId, reach }) => `${agentId} ${reach}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
})

/** Returns the id of the set with these members, ordered by id; creates it if missing. Call under the decision lock. */
export async function keepSet(queries: Queries, members: readonly SetMember[]): Promise<number> {
  const digest = digestMembers(members)
  const [found] = await findSet(queries, [digest])
  if (found) return found.id
  const { id: setId } = await queries
    .insertInto('invalidationSets')
    .values({ digest })
    .returning('id')
    .executeTakeFirstOrThrow()
  await inPieces(writeCoverages(members), (piece) =>
    queries
      .insertInto('invalidationMembers')
      .values(piece.map((row) => ({ ...row, setId })))
      .execute(),
  )
  return setId
}

/** Coverages as JSON, often shared by many members. */
function writeCoverages(members: readonly SetMember[]): { agentId: number; reach: string }[] {
  const written = new Map<Coverage, string>()
  return members.map(({ agentId, coverage }) => {
    const json = written.get(coverage) ?? JSON.stringify(coverage)
    written.set(coverage, json)
    return { agentId, reach: json }
  })
}

/** Returns existing members by agent. Members with the same coverage share one object. */
export async function readSets(
  queries: Queries,
  setIds: readonly number[],
): Promise<Map<number, SetMember[]>> {
  const sets = new Map<number, SetMember[]>(setIds.map((id) => [id, []]))
  if (setIds.length === 0) return sets
  const rows = await queries
    .selectFrom('invalidationMembers')
    .selectAll()
    .where('setId', 'in', [...setIds])
    .orderBy('agentId')
    .execute()
  const coverages = new Map<string, Coverage>()
  for (const { setId, agentId, reach: json } of rows) {
    const coverage = coverages.get(json) ?? (JSON.parse(json) as Coverage) // written above
    coverages.set(json, coverage)
    sets.get(setId)?.push({ agentId, coverage })
  }
  return sets
}

interface MemberRow extends MemberProgress {
  readonly setId: number
}

/** Returns members with their cursors, by set and agent. */
export async function readMembersProgress(
  queries: Queries,
  setIds: readonly number[],
): Promise<MemberRow[]> {
  return inPieces(setIds, (piece) => readPiece(queries, piece))
}

async function readPiece(queries: Queries, setIds: readonly number[]): Promise<MemberRow[]> {
  const rows = await queries
    .selectFrom('invalidationMembers')
    .innerJoin('agents', 'agents.id', 'invalidationMembers.agentId')
    .leftJoin('invalidationCursors', 'invalidationCursors.agentId', 'invalidationMembers.agentId')
    .select(['invalidationMembers.setId', 'agents.id', 'agents.name', 'agents.state'])
    .select(['agents.capabilities', 'invalidationCursors.position'])
    .select(['invalidationCursors.movedAt', 'invalidationCursors.trouble'])
    .where('invalidationMembers.setId', 'in', [...setIds])
    .orderBy('agents.id')
    .execute()
  return rows.map(({ id, state, capabilities, ...row }) => ({
    ...row,
    agentId: id,
    isAway: isAway(state as AgentState, parseCapabilities(capabilities)), // as TargetAgent
  }))
}

/** True if agents in this state receive entries. */
export function isAway(state: AgentState, capabilities: readonly Capability[]): boolean {
  const isThere = state === agentStates.Running || state === agentStates.Failing
  return !isThere || !capabilities.includes('invalidate')
}

/** Deletes one unused set and returns whether there was one. Call under the decision lock, which protects reuse of a set. */
export async function deleteUnusedSet(queries: Queries): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('invalidationSets')
    .where('id', 'in', (e) =>
      e
        .selectFrom('invalidationSets')
        .select('id')
        .where((w) =>
          w.not(
            w.exists(
              w
                .selectFrom('invalidations')
                .select('invalidations.id')
                .where((u) =>
                  u.or([
                    u('invalidations.setId', '=', u.ref('invalidationSets.id')),
                    u('invalidations.attemptSetId', '=', u.ref('invalidationSets.id')),
                  ]),
                ),
            ),
          ),
        )
        .limit(1),
    )
    .executeTakeFirst()
  return numDeletedRows > 0n
}

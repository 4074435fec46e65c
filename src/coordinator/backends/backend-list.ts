/** `GET /backends`: one row per backend of each VCL group, the worst first. */
import { backend, maxSickAgents, type Backend } from '../../resources/backend.js'
import {
  matchesPattern,
  parseListQuery,
  takeFromList,
  type Filter,
  type ListFields,
  type ListValue,
} from '../../resources/list-query.js'
import { toIso } from '../api/times.js'
import type { ListAnswer, ListParameters } from '../store/computed-list.js'
import { inPieces } from '../store/in-pieces.js'
import type { NamedReference } from '../store/owner.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { readServed, readSick, type SickOnAgent } from './group-backends.js'

const ownFields = {
  'vclGroup.id': { type: 'number' },
  'vclGroup.name': { type: 'text' },
  name: { type: 'text' },
  healthy: { type: 'number' },
  sick: { type: 'number' },
  since: { type: 'time' },
} as const satisfies ListFields
const agentFields = {
  'agents.id': { type: 'nested' },
  'agents.name': { type: 'nested' },
} as const satisfies ListFields
const listFields = { ...ownFields, ...agentFields, seenBy: { type: 'nested' } } as const

export const backendListFields = Object.keys(listFields)

/** Filters by agent match all agents that see the backend sick, including those not listed in the row. */
export async function listBackends(
  queries: Queries,
  scope: Scope,
  query: ListParameters,
): Promise<ListAnswer<Backend>> {
  const list = parseListQuery(query, listFields, backend.noun)
  const agentIds = readSeenBy(list.filters)
  const ofAgents = list.filters.filter(({ field }) => field in agentFields)
  const rows = await readRows(queries, { scope, agentIds }, ofAgents)
  const chosen = rows.filter(({ met }) => met.size === ofAgents.length)
  const filters = list.filters.filter(({ field }) => field in ownFields)
  const { rows: taken, total } = takeFromList(chosen, { ...list, filters }, ({ row }, field) => [
    valueOf(row, field as keyof typeof ownFields), // the fields that the list was parsed with
  ])
  return { rows: taken.map(({ row }) => row), total }
}

/** The agents whose reports count; null: all that are connected and running. A text that is not an id matches no agent. */
function readSeenBy(filters: readonly Filter[]): readonly number[] | null {
  const patterns = filters
    .find(({ field }) => field === 'seenBy')
    ?.anyOf.map((one) => one.join('*'))
  if (!patterns || patterns.includes('*')) return null
  return patterns.map((text) => (idPattern.test(text) ? Number(text) : nobody))
}

/** docs/behaviour.md, Calls. */
const idPattern = /^[1-9][0-9]{0,15}$/
const nobody = 0

interface ListedBackend {
  readonly row: Backend
  /** The filters that at least one of its agents matches. */
  readonly met: ReadonlySet<Filter>
}

async function readRows(
  queries: Queries,
  of: { readonly scope: Scope; readonly agentIds: readonly number[] | null },
  ofAgents: readonly Filter[],
): Promise<readonly ListedBackend[]> {
  const served = await readServed(queries, of)
  const sick = new Map<string, SickBackend>()
  await readSick(queries, of, (row) => {
    addSick(sick, row, ofAgents)
  })
  const groups = await readNames(queries, of.scope, [...served.keys()])
  const rows = groups.flatMap((vclGroup) =>
    [...(served.get(vclGroup.id)?.agents ?? [])].map(([name, agents]) =>
      toRow(vclGroup, { name, agents }, sick.get(keyOf(vclGroup.id, name))),
    ),
  )
  return rows.toSorted((a, b) => compareRows(a.row, b.row))
}

interface SickBackend {
  agents: number
  since: number
  readonly named: NamedReference[]
  readonly met: Set<Filter>
}

function addSick(
  found: Map<string, SickBackend>,
  { groupId, backend: name, agentId, agentName, since }: SickOnAgent,
  ofAgents: readonly Filter[],
): void {
  const key = keyOf(groupId, name)
  const one = found.get(key) ?? { agents: 0, since, named: [], met: new Set() }
  found.set(key, one)
  one.agents += 1
  one.since = Math.min(one.since, since)
  if (one.named.length < maxSickAgents) one.named.push({ id: agentId, name: agentName })
  for (const filter of ofAgents) {
    const value = filter.field === 'agents.id' ? String(agentId) : agentName
    if (filter.anyOf.some((pattern) => matchesPattern(pattern, value))) one.met.add(filter)
  }
}

/** In the order of their ids. */
async function readNames(
  queries: Queries,
  scope: Scope,
  ids: readonly number[],
): Promise<readonly NamedReference[]> {
  const groups = await inPieces(ids, (piece) =>
    queries
      .selectFrom('vclGroups')
      .select(['id', 'name'])
      .where(within(scope, 'vclGroups'))
      .where('id', 'in', piece)
      .execute(),
  )
  return groups.toSorted((a, b) => a.id - b.id)
}

const nobodyMet: ReadonlySet<Filter> = new Set()

function toRow(
  vclGroup: NamedReference,
  { name, agents }: { readonly name: string; readonly agents: number },
  sick: SickBackend | undefined,
): ListedBackend {
  return {
    row: {
      vclGroup,
      name,
      // A report may arrive between the two queries.
      healthy: Math.max(0, agents - (sick?.agents ?? 0)),
      sick: sick?.agents ?? 0,
      agents: sick?.named ?? [],
      since: sick ? toIso(sick.since) : null,
    },
    met: sick?.met ?? nobodyMet,
  }
}

function compareRows(a: Backend, b: Backend): number {
  return (
    b.sick - a.sick ||
    a.healthy - b.healthy ||
    a.vclGroup.id - b.vclGroup.id ||
    (a.name < b.name ? -1 : Number(a.name > b.name))
  )
}

function valueOf(row: Backend, field: keyof typeof ownFields): ListValue {
  if (field === 'vclGroup.id') return row.vclGroup.id
  return field === 'vclGroup.name' ? row.vclGroup.name : row[field]
}

function keyOf(groupId: number, name: string): string {
  return `${groupId} ${name}`
}

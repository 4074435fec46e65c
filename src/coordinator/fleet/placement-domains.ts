/**
 * The group that holds a domain on an agent: at most one, enforced by the table's key (docs/behaviour.md, Placement). A
 * placement claims the domain names of its serving VCL and of the one being loaded.
 */
import { sql } from 'kysely'
import { holderId, type DomainOnAgent, type PlacementHolder } from './agent-index.js'
import type { PlacedPrograms } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import { divideAlike } from './divide-alike.js'
import { numberValues } from './number-values.js'
import { listIds, prepareGiven } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** The parts of a placement of a group or stage that determine its domains. */
type DomainPlacement = Pick<PlacedPrograms, 'current' | 'candidate' | 'previous'> &
  PlacementHolder & { readonly agentId: number }

interface DomainRow extends PlacementHolder {
  readonly agentId: number
  readonly fqdn: string
}

/**
 * Throws a unique violation if another group holds one of the names there. Names in a placement that the group takes over
 * stay with the old holder until the switch, which deletes that placement and writes the names. Writes nothing where the
 * names are those in the table: a new VCL of a group mostly serves the same.
 */
export async function savePlacementDomains(
  queries: Queries,
  places: readonly DomainPlacement[],
): Promise<void> {
  const changed = await findChanged(
    queries,
    places.filter((place) => !isRootOnly(place)),
  )
  if (changed.length === 0) return
  for (const alike of groupBy(changed, holderId).values()) await freePlacements(queries, alike)
  const rows = changed.flatMap(toRows)
  await insertRows(
    queries,
    rows.filter(({ stage }) => stage),
  )
  const own = rows.filter(({ stage }) => !stage)
  const taken = await readReplacedNames(queries, new Set(own.map(({ groupId }) => groupId)))
  await insertRows(
    queries,
    own.filter((row) => !taken.has(keyOf(row))),
  )
}

/** Returns the other groups and stages (`holderId`) that hold these names, on all agents. */
export async function readOtherHolders(
  queries: Queries,
  holder: PlacementHolder,
  fqdns: readonly string[],
): Promise<DomainOnAgent[]> {
  const rows = await inPieces(fqdns, (piece) =>
    queries
      .selectFrom('placementDomains')
      .select(['agentId', 'fqdn', 'groupId', 'stage'])
      .where('fqdn', 'in', piece)
      .where((e) =>
        e.or([e('groupId', '!=', holder.groupId), e('stage', '!=', holder.stage ? 1 : 0)]),
      )
      .execute(),
  )
  return rows.map(({ groupId, stage, ...row }) => ({
    ...row,
    groupId: holderId({ groupId, stage: stage === 1 }),
  }))
}

/** Such a placement has no rows: the most frequent case costs nothing. */
function isRootOnly({ current, candidate, previous }: DomainPlacement): boolean {
  const programs = [current, candidate, previous].filter((program) => program !== null)
  return programs.length > 0 && programs.every(({ fqdns }) => fqdns === null)
}

async function findChanged(
  queries: Queries,
  places: readonly DomainPlacement[],
): Promise<readonly DomainPlacement[]> {
  const numberOf = numberValues()
  // By identity: one read gives placements with the same names the same list.
  const { alike, others } = divideAlike(places, (place) =>
    [holderId(place), numberOf(place.current?.fqdns), numberOf(place.candidate?.fqdns)].join(),
  )
  const changed = [...others]
  for (const places of alike) {
    const held = await findHolding(queries, places[0], places)
    changed.push(...places.filter(({ agentId }) => !held.has(agentId)))
  }
  return changed
}

/** Returns the agents where the group has exactly the names of `claim` in the table. */
async function findHolding(
  queries: Queries,
  claim: DomainPlacement,
  places: readonly DomainPlacement[],
): Promise<ReadonlySet<number>> {
  const names = listNames(claim)
  const wanted = JSON.stringify(Object.fromEntries(names.map((name) => [name, 0])))
  const isWanted = sql<number>`case when fqdn in (select key from json_each(${wanted})) then 1 else 0 end`
  const rows = await inPieces(places, (piece) =>
    queries
      .selectFrom('placementDomains')
      .select((e) => [
        'agentId',
        e.fn.countAll<number>().as('held'),
        e.fn.sum<number>(isWanted).as('wanted'),
      ])
      .where('groupId', '=', claim.groupId)
      .where('stage', '=', claim.stage ? 1 : 0)
      .where('agentId', 'in', listIds(piece.map(({ agentId }) => agentId)))
      .groupBy('agentId')
      .execute(),
  )
  const same = rows.filter(({ held, wanted }) => held === names.length && wanted === names.length)
  return new Set(same.map(({ agentId }) => agentId))
}

async function freePlacements(queries: Queries, places: readonly DomainPlacement[]): Promise<void> {
  await inPieces(places, (piece) =>
    queries
      .deleteFrom('placementDomains')
      .where('groupId', '=', piece[0]?.groupId ?? 0)
      .where('stage', '=', piece[0]?.stage ? 1 : 0)
      .where('agentId', 'in', listIds(piece.map(({ agentId }) => agentId)))
      .execute(),
  )
}

function listNames({ current, candidate }: DomainPlacement): string[] {
  return [...new Set([...(current?.fqdns ?? []), ...(candidate?.fqdns ?? [])])]
}

function toRows(place: DomainPlacement): DomainRow[] {
  const { groupId, agentId, stage } = place
  return listNames(place).map((fqdn) => ({ agentId, fqdn, groupId, stage }))
}

async function insertRows(queries: Queries, rows: readonly DomainRow[]): Promise<void> {
  await insertGiven(
    queries,
    rows.map((row) => ({ ...row, stage: row.stage ? 1 : 0 })),
  )
}

const insertGiven = prepareGiven(
  { agentId: 'bigint', fqdn: 'text', groupId: 'bigint', stage: 'bigint' },
  (given) => sql`
    insert into "placementDomains" ("agentId", fqdn, "groupId", stage)
    select ${given.agentId}, ${given.fqdn}, ${given.groupId}, ${given.stage} ${given.from}`,
)

/** The agents where these groups will take over placements, with the names held there until then. */
async function readReplacedNames(
  queries: Queries,
  groupIds: ReadonlySet<number>,
): Promise<ReadonlySet<string>> {
  const rows = await inPieces([...groupIds], (ids) =>
    queries
      .selectFrom('placementDomains')
      .innerJoin('placements', (join) =>
        join
          .onRef('placements.groupId', '=', 'placementDomains.groupId')
          .onRef('placements.agentId', '=', 'placementDomains.agentId')
          .onRef('placements.stage', '=', 'placementDomains.stage'),
      )
      .select(['placements.replacedBy as groupId', 'placementDomains.agentId'])
      .select('placementDomains.fqdn')
      .where('placements.replacedBy', 'in', ids)
      .$narrowType<{ groupId: number }>()
      .execute(),
  )
  return new Set(rows.map(keyOf))
}

function keyOf(row: Pick<DomainRow, 'groupId' | 'agentId' | 'fqdn'>): string {
  return `${row.groupId} ${row.agentId} ${row.fqdn}`
}

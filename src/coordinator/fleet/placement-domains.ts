/**
 * Which group has a domain on an agent: one at most, held by the table's key (docs/behaviour.md, Placement). A place takes the
 * names of what serves there and of what is being loaded.
 */
import { sql } from 'kysely'
import { holderId, type DomainOnAgent, type PlacementHolder } from './agent-index.js'
import type { PlacedPrograms } from '../../vcl/desired-engine.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** The place of a group or of its stage, as far as its domains are concerned. */
type DomainPlacement = Pick<PlacedPrograms, 'current' | 'candidate' | 'previous'> &
  PlacementHolder & { readonly agentId: number }

interface DomainRow extends PlacementHolder {
  readonly agentId: number
  readonly fqdn: string
}

/**
 * A unique violation when another group has one of the names there. What stands in a place that the group takes stays that
 * one's until the switch: its place goes then, and the names are written with it.
 */
export async function savePlacementDomains(
  queries: Queries,
  places: readonly DomainPlacement[],
): Promise<void> {
  const changed = places.filter((place) => !isRootOnly(place))
  await inPieces(changed, (piece) => freePlacements(queries, piece))
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

/** Which other groups and stages (`holderId`) have these names, on all agents. */
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

/** Such a place has no rows: the most frequent case costs nothing. */
function isRootOnly({ current, candidate, previous }: DomainPlacement): boolean {
  const programs = [current, candidate, previous].filter((program) => program !== null)
  return programs.length > 0 && programs.every(({ fqdns }) => fqdns === null)
}

async function freePlacements(queries: Queries, places: readonly DomainPlacement[]) {
  const keys = sql.join(
    places.map(
      ({ groupId, agentId, stage }) =>
        sql`(cast(${groupId} as integer), cast(${agentId} as integer), cast(${stage ? 1 : 0} as integer))`,
    ),
  )
  const freed = sql`
    delete from "placementDomains" where ("groupId", "agentId", stage) in (values ${keys})`
  return (await freed.execute(queries)).rows
}

function toRows({ groupId, agentId, stage, current, candidate }: DomainPlacement): DomainRow[] {
  const fqdns = new Set([...(current?.fqdns ?? []), ...(candidate?.fqdns ?? [])])
  return [...fqdns].map((fqdn) => ({ agentId, fqdn, groupId, stage }))
}

async function insertRows(queries: Queries, rows: readonly DomainRow[]): Promise<void> {
  await inPieces(rows, (piece) =>
    queries
      .insertInto('placementDomains')
      .values(piece.map((row) => ({ ...row, stage: row.stage ? 1 : 0 })))
      .execute(),
  )
}

/** Where these groups are to take places, and which names are held there until then. */
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

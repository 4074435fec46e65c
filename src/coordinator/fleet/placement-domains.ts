/**
 * The group that holds a domain on an agent: at most one, enforced by the table's key (docs/behaviour.md, Placement). A
 * placement claims the domain names of its serving VCL and of the one being loaded.
 */
import { sql } from 'kysely'
import { holderId, type DomainOnAgent, type PlacementHolder } from './agent-index.js'
import type { PlacedPrograms } from '../../vcl/desired-engine.js'
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
 * stay with the old holder until the switch, which deletes that placement and writes the names.
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

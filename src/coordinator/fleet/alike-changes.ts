/** Finds placements that change alike: the agents of a deploy nearly always do, and are then written in one statement. Pure. */
import type { Updateable } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import type { PlacementRecord } from './placement-queries.js'
import { toRow } from './placement-rows.js'
import { numberValues } from './number-values.js'
import type { Tables } from '../store/schema.js'
import { placementTables } from '../store/tables/groups.js'

/** The same columns change to the same values on all of these agents. */
export interface AlikeChange extends PlacementHolder {
  readonly agentIds: readonly number[]
  readonly columns: Updateable<Tables['placements']>
}

interface DividedChanges {
  readonly alike: readonly AlikeChange[]
  /** New, or changed in a way of their own: written as whole rows. */
  readonly whole: readonly PlacementRecord[]
}

/** Below this number whole rows are cheaper than a statement that is composed for them. */
const leastAlike = 10

/** Some milliseconds. */
const placesPerStep = 1_000

/** `before`: what the rows hold now, of those that exist. Placements without a change are in neither part. */
export function* divideChanges(
  placements: readonly PlacementRecord[],
  before: readonly PlacementRecord[],
): Generator<void, DividedChanges, void> {
  const known = new Map(before.map((placement) => [keyOf(placement), placement]))
  const whole: PlacementRecord[] = []
  const sets = new Map<string, ChangedSet>()
  const numberOf = numberValues()
  for (const [at, placement] of placements.entries()) {
    if (at % placesPerStep === placesPerStep - 1) yield
    const last = known.get(keyOf(placement))
    if (last === undefined) {
      whole.push(placement)
      continue
    }
    const changed = findChanged(toRow(last), toRow(placement))
    if (changed.length === 0) continue
    const { groupId, stage } = placement
    const key = [
      groupId,
      stage,
      ...changed.flatMap(([name, value]) => [name, numberOf(value)]),
    ].join()
    const set = sets.get(key)
    if (set) set.places.push(placement)
    else sets.set(key, { groupId, stage, changed, places: [placement] })
  }
  const alike = [...sets.values()].filter(({ places }) => places.length >= leastAlike)
  const others = [...sets.values()].filter(({ places }) => places.length < leastAlike)
  return {
    alike: alike.map(toChange),
    whole: [...whole, ...others.flatMap(({ places }) => places)],
  }
}

type Row = ReturnType<typeof toRow>
type ChangedColumn = readonly [column: keyof Row, value: unknown]

interface ChangedSet extends PlacementHolder {
  readonly changed: readonly ChangedColumn[]
  readonly places: PlacementRecord[]
}

function keyOf({ groupId, stage, agentId }: PlacementRecord): string {
  return `${groupId} ${stage} ${agentId}`
}

const names = Object.keys(placementTables.placements.columns) as (keyof Row)[] // of its own table

function findChanged(last: Row, row: Row): ChangedColumn[] {
  return names.filter((name) => last[name] !== row[name]).map((name) => [name, row[name]])
}

function toChange({ groupId, stage, changed, places }: ChangedSet): AlikeChange {
  const columns = Object.fromEntries(changed) as AlikeChange['columns'] // of toRow
  return { groupId, stage, columns, agentIds: places.map(({ agentId }) => agentId) }
}

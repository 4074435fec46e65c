/** Finds placements that change alike: the agents of a deploy nearly always do, and are then written in one statement. Pure. */
import type { Updateable } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import type { PlacementRecord } from './placement-queries.js'
import { toRow } from './placement-rows.js'
import { divideAlike } from './divide-alike.js'
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

/** Some milliseconds. */
const placesPerStep = 1_000

/** `before`: what the rows hold now, of those that exist. Placements without a change are in neither part. */
export function* divideChanges(
  placements: readonly PlacementRecord[],
  before: readonly PlacementRecord[],
): Generator<void, DividedChanges, void> {
  const known = new Map(before.map((placement) => [keyOf(placement), placement]))
  const whole: PlacementRecord[] = []
  const changes: Change[] = []
  const numberOf = numberValues()
  for (const [at, placement] of placements.entries()) {
    if (at % placesPerStep === placesPerStep - 1) yield
    const last = known.get(keyOf(placement))
    if (last === undefined) {
      whole.push(placement)
      continue
    }
    const columns = findChanged(toRow(last), toRow(placement))
    if (columns.length === 0) continue
    const { groupId, stage } = placement
    const values = columns.flatMap(([name, value]) => [name, numberOf(value)])
    changes.push({ placement, columns, key: [groupId, stage, ...values].join() })
  }
  const { alike, others } = divideAlike(changes, ({ key }) => key)
  return {
    alike: alike.map(toAlike),
    whole: [...whole, ...others.map(({ placement }) => placement)],
  }
}

type Row = ReturnType<typeof toRow>
type ChangedColumn = readonly [column: keyof Row, value: unknown]

interface Change {
  readonly placement: PlacementRecord
  readonly columns: readonly ChangedColumn[]
  /** The same for those that change alike. */
  readonly key: string
}

function keyOf({ groupId, stage, agentId }: PlacementRecord): string {
  return `${groupId} ${stage} ${agentId}`
}

const names = Object.keys(placementTables.placements.columns) as (keyof Row)[] // of its own table

function findChanged(last: Row, row: Row): ChangedColumn[] {
  return names.filter((name) => last[name] !== row[name]).map((name) => [name, row[name]])
}

function toAlike(changes: readonly [Change, ...Change[]]): AlikeChange {
  const [{ placement, columns }] = changes
  const { groupId, stage } = placement
  return {
    groupId,
    stage,
    columns: Object.fromEntries(columns),
    agentIds: changes.map(({ placement: { agentId } }) => agentId),
  }
}

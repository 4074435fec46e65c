/** Where a deploy would place a group, and why. Pure functions. */
import type { ForeseenPlacements, PlacementReason } from '../../../resources/vclgroup.js'

type ForeseenPlace = Omit<ForeseenPlacements['agents'][number], 'replaces'>

export type PlaceChange = 'added' | 'no change' | 'waiting' | 'removed' | 'not placed'

export interface PlannedPlace {
  /** The agent's id. */
  readonly id: number
  readonly name: string
  readonly change: PlaceChange
  readonly deployment: string | null
  readonly reason: string
}

/** Unusual changes first. */
const order: readonly PlaceChange[] = ['removed', 'waiting', 'added', 'no change', 'not placed']

/**
 * `preview`: for the group as it is now; `reasons`: why the other agents are not chosen, as of the last deploy. Without
 * `preview` (not permitted) only the reasons are used.
 */
export function planPlaces(
  preview: { readonly agents: readonly ForeseenPlace[] } | null,
  reasons: readonly PlacementReason[],
  held: ReadonlySet<number>,
): readonly PlannedPlace[] {
  const reasonOf = new Map(reasons.map((row) => [row.agent.id, row]))
  const places: PlannedPlace[] = (preview?.agents ?? []).map((place) => {
    const { agent, deployment } = place
    const reason = explain(place, reasonOf.get(agent.id))
    return { ...agent, change: changeOf(place), deployment, reason }
  })
  const known = new Set(places.map(({ id }) => id))
  for (const { agent, deployment, chosen, reason } of reasons) {
    if (known.has(agent.id)) continue
    const isChosen = preview === null && chosen
    const change = isChosen ? (held.has(agent.id) ? 'no change' : 'added') : 'not placed'
    places.push({ ...agent, change, deployment: deployment?.name ?? null, reason })
  }
  return places.sort((a, b) => order.indexOf(a.change) - order.indexOf(b.change))
}

function changeOf({ deployment, held, waiting }: ForeseenPlace): PlaceChange {
  if (deployment === null) return 'removed'
  if (waiting) return 'waiting'
  return held ? 'no change' : 'added'
}

function explain(
  { deployment, held, reason }: ForeseenPlace,
  row: PlacementReason | undefined,
): string {
  if (reason !== null) return reason
  if (row?.chosen === true && row.deployment?.name === deployment) return row.reason
  return held ? 'keeps its place' : `has all tags of ${deployment ?? 'a deployment'}`
}

export function countPlanned(places: readonly PlannedPlace[], ...changes: PlaceChange[]): number {
  return places.filter(({ change }) => changes.includes(change)).length
}

interface AlikePlaces extends Pick<PlannedPlace, 'change' | 'reason'> {
  readonly count: number
}

/** Each distinct reason once, with the number of caches it applies to. */
export function groupReasons(places: readonly PlannedPlace[]): readonly AlikePlaces[] {
  const alike = new Map<string, AlikePlaces>()
  for (const { change, reason } of places) {
    const key = `${change} ${reason}`
    alike.set(key, { change, reason, count: (alike.get(key)?.count ?? 0) + 1 })
  }
  return [...alike.values()]
}

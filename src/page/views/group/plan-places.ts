/** Where a deploy would put a group, with the reasons: values in, values out. */
import type { ForeseenPlacements, PlacementReason } from '../../../resources/vclgroup.js'

interface PlacementPreview {
  readonly agents: readonly Omit<ForeseenPlacements['agents'][number], 'replaces'>[]
}

export interface PlannedPlace {
  readonly id: number
  readonly name: string
  readonly what: 'joins' | 'stays' | 'leaves' | 'not used'
  readonly deployment: string | null
  readonly reason: string
}

const order = ['joins', 'leaves', 'stays', 'not used'] as const

/**
 * `preview`: of the group as it is now; `reasons`: why the others are not chosen, by what is deployed. Without
 * `preview` (not allowed) the reasons alone.
 */
export function planPlaces(
  preview: PlacementPreview | null,
  reasons: readonly PlacementReason[],
  held: ReadonlySet<number>,
): readonly PlannedPlace[] {
  const reasonOf = new Map(reasons.map((row) => [row.agent.id, row]))
  const places: PlannedPlace[] = (preview?.agents ?? []).map((place) => {
    const { agent, deployment } = place
    const what = deployment === null ? 'leaves' : place.held ? 'stays' : 'joins'
    return { ...agent, what, deployment, reason: explain(place, reasonOf.get(agent.id)) }
  })
  const known = new Set(places.map(({ id }) => id))
  for (const { agent, deployment, chosen, reason } of reasons) {
    if (known.has(agent.id)) continue
    const isHeld = held.has(agent.id)
    const isChosen = preview === null && chosen
    const what = isChosen ? (isHeld ? 'stays' : 'joins') : 'not used'
    places.push({ ...agent, what, deployment: deployment?.name ?? null, reason })
  }
  return places.sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what))
}

function explain(
  { deployment, held, reason }: PlacementPreview['agents'][number],
  row: PlacementReason | undefined,
): string {
  if (reason !== null) return reason
  if (row?.chosen === true && row.deployment?.name === deployment) return row.reason
  return held ? 'it keeps its place' : `it has all tags of ${deployment ?? 'a deployment'}`
}

interface AlikePlaces extends Pick<PlannedPlace, 'what' | 'reason'> {
  readonly count: number
}

/** Each distinct reason once, with how many caches it is about. */
export function groupReasons(places: readonly PlannedPlace[]): readonly AlikePlaces[] {
  const alike = new Map<string, AlikePlaces>()
  for (const { what, reason } of places) {
    const key = `${what} ${reason}`
    alike.set(key, { what, reason, count: (alike.get(key)?.count ?? 0) + 1 })
  }
  return [...alike.values()]
}

/** "2 join, 1 leaves, 3 stay". */
export function formatPlaces(places: readonly PlannedPlace[]): string {
  const count = (what: PlannedPlace['what']): number =>
    places.filter((place) => place.what === what).length
  const [joins, leaves, stays] = [count('joins'), count('leaves'), count('stays')]
  const parts = [
    joins > 0 ? `${joins} ${joins === 1 ? 'joins' : 'join'}` : '',
    leaves > 0 ? `${leaves} ${leaves === 1 ? 'leaves' : 'leave'}` : '',
    stays > 0 ? `${stays} ${stays === 1 ? 'stays' : 'stay'}` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'no cache' : parts.join(', ')
}

/** Where a deploy would put a group, with the reasons: values in, values out. */
import type { ForeseenPlacements, PlacementReason } from '../../../resources/vclgroup.js'

interface PlacementPreview {
  readonly agents: readonly Omit<ForeseenPlacements['agents'][number], 'replaces'>[]
}

export interface PlannedPlace {
  readonly id: number
  readonly name: string
  readonly what: 'added' | 'no change' | 'removed' | 'not placed'
  readonly deployment: string | null
  readonly reason: string
}

const order = ['added', 'removed', 'no change', 'not placed'] as const

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
    const what = deployment === null ? 'removed' : place.held ? 'no change' : 'added'
    return { ...agent, what, deployment, reason: explain(place, reasonOf.get(agent.id)) }
  })
  const known = new Set(places.map(({ id }) => id))
  for (const { agent, deployment, chosen, reason } of reasons) {
    if (known.has(agent.id)) continue
    const isHeld = held.has(agent.id)
    const isChosen = preview === null && chosen
    const what = isChosen ? (isHeld ? 'no change' : 'added') : 'not placed'
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
  return held ? 'keeps its place' : `has all tags of ${deployment ?? 'a deployment'}`
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

/** "2 added, 1 removed, 3 unchanged". */
export function formatPlaces(places: readonly PlannedPlace[]): string {
  const count = (what: PlannedPlace['what']): number =>
    places.filter((place) => place.what === what).length
  const [added, removed, unchanged] = [count('added'), count('removed'), count('no change')]
  const parts = [
    added > 0 ? `${added} added` : '',
    removed > 0 ? `${removed} removed` : '',
    unchanged > 0 ? `${unchanged} unchanged` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'none' : parts.join(', ')
}

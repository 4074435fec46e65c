/** Lists the tags that a stage of a group could use, and the caches that the chosen tags select. Pure functions. */
import type { Agent } from '../../../resources/agent.js'
import { agentStates } from '../../../resources/agent-state.js'
import type { PlacementReason } from '../../../resources/vclgroup.js'
import { formatNames } from '../../parts/format-names.js'
import { formatCount } from '../../parts/quantity.js'

/** A running cache; others are ignored. */
export interface StageCache {
  readonly id: number
  readonly name: string
  /** The ids of its tags. */
  readonly tags: ReadonlySet<number>
  /** Why the cache cannot take the stage; null: it can. */
  readonly refusal: string | null
}

export function listStageCaches(
  agents: readonly Pick<Agent, 'id' | 'name' | 'state' | 'tags'>[],
  reasons: readonly PlacementReason[],
): readonly StageCache[] {
  const reasonOf = new Map(reasons.map((row) => [row.agent.id, row]))
  return agents
    .filter(({ state }) => state === agentStates.Running)
    .flatMap(({ id, name, tags }) => {
      const row = reasonOf.get(id)
      if (!row) return []
      const refusal = row.chosen ? null : row.reason
      return [{ id, name, tags: new Set(tags.map((tag) => tag.id)), refusal }]
    })
}

interface TagOption {
  readonly id: number
  readonly name: string
  readonly note: string
  /** True if no choice of further tags would make the stage possible. */
  readonly disabled: boolean
}

/** A tag can work if a cache with it and the chosen tags can take the stage. `caches` null: not known. */
export function listStageTags(
  tags: readonly { readonly id: number; readonly name: string }[],
  caches: readonly StageCache[] | null,
  chosen: readonly number[],
): readonly TagOption[] {
  if (caches === null) return tags.map((tag) => ({ ...tag, note: '', disabled: false }))
  const options = tags.map(({ id, name }): TagOption => {
    const having = findHaving(caches, [...chosen, id])
    const free = having.filter(({ refusal }) => refusal === null)
    const isChosen = chosen.includes(id)
    const note =
      free.length > 0
        ? `${formatCount(having.length)} ${having.length === 1 ? 'cache' : 'caches'}`
        : (having[0]?.refusal ?? 'no running cache has it')
    return { id, name, note, disabled: free.length === 0 && !isChosen }
  })
  return options.sort((a, b) => Number(a.disabled) - Number(b.disabled))
}

/** Returns where a stage with these tags is placed; `hindrance`: why it cannot be placed, null if it can. */
export function judgeStage(
  caches: readonly StageCache[] | null,
  chosen: readonly number[],
): { readonly names: readonly string[]; readonly hindrance: string | null } {
  if (chosen.length === 0) return { names: [], hindrance: 'Choose at least one tag.' }
  if (caches === null) return { names: [], hindrance: null }
  const having = findHaving(caches, chosen)
  const names = having.map(({ name }) => name)
  if (having.length === 0) return { names, hindrance: 'No running cache has all of these tags.' }
  const refusing = having.filter(({ refusal }) => refusal !== null)
  const [first] = refusing
  if (!first) return { names, hindrance: null }
  const who = formatNames(refusing.map(({ name }) => name))
  return { names, hindrance: `Cannot go to ${who}: ${first.refusal ?? ''}.` }
}

function findHaving(caches: readonly StageCache[], tags: readonly number[]): readonly StageCache[] {
  return caches.filter((cache) => tags.every((id) => cache.tags.has(id)))
}

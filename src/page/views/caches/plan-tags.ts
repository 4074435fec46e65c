/** Plans tag changes for many caches. Pure functions. */
import type { Agent } from '../../../resources/agent.js'

export interface TagChange {
  readonly add: readonly number[]
  readonly remove: readonly number[]
}

type Tagged = Pick<Agent, 'tags'>

/** Returns the part of the change that is not in effect yet; tags that the cache itself sends stay unchanged. Null: nothing. */
export function planTags({ tags }: Tagged, { add, remove }: TagChange): TagChange | null {
  const has = (id: number): boolean => tags.some((tag) => tag.id === id)
  const assigned = (id: number): boolean => tags.some((tag) => tag.id === id && !tag.static)
  const plan = { add: add.filter((id) => !has(id)), remove: remove.filter(assigned) }
  return plan.add.length + plan.remove.length === 0 ? null : plan
}

/** Returns the ids of all tags after the change: a PUT needs the full list. */
export function applyTags({ tags }: Tagged, { add, remove }: TagChange): readonly number[] {
  return [...tags.map(({ id }) => id).filter((id) => !remove.includes(id)), ...add]
}

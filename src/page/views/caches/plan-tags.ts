/** Which tags many caches get or lose: values in, values out. */
import type { Agent } from '../../../resources/agent.js'

export interface TagChange {
  readonly add: readonly number[]
  readonly remove: readonly number[]
}

type Tagged = Pick<Agent, 'tags'>

/** What of the change is not so already; tags that the cache sends itself stay as they are. Null: nothing. */
export function planTags({ tags }: Tagged, { add, remove }: TagChange): TagChange | null {
  const has = (id: number): boolean => tags.some((tag) => tag.id === id)
  const assigned = (id: number): boolean => tags.some((tag) => tag.id === id && !tag.static)
  const plan = { add: add.filter((id) => !has(id)), remove: remove.filter(assigned) }
  return plan.add.length + plan.remove.length === 0 ? null : plan
}

/** The ids of the tags that it has then: a PUT takes them all. */
export function applyTags({ tags }: Tagged, { add, remove }: TagChange): readonly number[] {
  return [...tags.map(({ id }) => id).filter((id) => !remove.includes(id)), ...add]
}

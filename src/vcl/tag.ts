/**
 * Tags of an agent: static ones are sent by the agent itself, assigned ones are given through the API, and one tag may
 * be both (choices: 2, tags).
 */

export interface AgentTag {
  readonly tagId: number
  /** The agent sends it. */
  readonly static: boolean
  /** Somebody gave it. */
  readonly assigned: boolean
}

/** What `PUT /agents/{id} {tags}` makes of an agent's tags: static ones stay, whether they are listed or not. */
export function assignTags(
  current: readonly AgentTag[],
  wanted: readonly number[],
): readonly AgentTag[] {
  const before = new Map(current.map((tag) => [tag.tagId, tag]))
  const listed = [...new Set(wanted)].map((tagId) => {
    const known = before.get(tagId)
    return known ?? { tagId, static: false, assigned: true }
  })
  const kept = current
    .filter((tag) => tag.static && !wanted.includes(tag.tagId))
    .map((tag) => ({ ...tag, assigned: false }))
  return inOrder([...listed, ...kept])
}

/** What hello makes of an agent's tags: assigned ones stay, static ones that are no longer sent go. */
export function followStaticTags(
  current: readonly AgentTag[],
  sent: readonly number[],
): readonly AgentTag[] {
  const assigned = new Set(current.filter((tag) => tag.assigned).map((tag) => tag.tagId))
  const ids = new Set([...assigned, ...sent])
  return inOrder(
    [...ids].map((tagId) => ({
      tagId,
      static: sent.includes(tagId),
      assigned: assigned.has(tagId),
    })),
  )
}

function inOrder(tags: readonly AgentTag[]): readonly AgentTag[] {
  return tags.toSorted((a, b) => a.tagId - b.tagId)
}

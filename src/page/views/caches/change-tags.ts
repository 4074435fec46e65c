/** Adds or removes tags on many caches: one call per cache, a few at a time, based on the cache's current tags. */
import type { Agent } from '../../../resources/agent.js'
import { call } from '../../api/call.js'
import type { CallError, Outcome } from '../../api/http.js'
import { applyTags, planTags, type TagChange } from './plan-tags.js'

export interface TagOutcome {
  /** The actual changes by cache id, for an undo. */
  readonly changed: ReadonlyMap<number, TagChange>
  readonly failed: readonly { readonly name: string; readonly error: CallError }[]
}

const callsAtOnce = 4
/** Attempts per cache while others change its tags at the same time. */
const maxTries = 3

/** `changeOf`: returns the change for each cache. */
export async function changeTags(
  agents: readonly Pick<Agent, 'id' | 'name'>[],
  changeOf: (id: number) => TagChange,
  onDone: (count: number) => void,
): Promise<TagOutcome> {
  const changed = new Map<number, TagChange>()
  const failed: TagOutcome['failed'][number][] = []
  const waiting = [...agents]
  let done = 0
  const changeNext = async (): Promise<void> => {
    for (let agent = waiting.shift(); agent; agent = waiting.shift()) {
      const { id, name } = agent
      const outcome = await changeOne(id, changeOf(id))
      if (!outcome.ok) failed.push({ name, error: outcome.error })
      else if (outcome.value) changed.set(id, outcome.value)
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, changeNext))
  return { changed, failed }
}

async function changeOne(id: number, change: TagChange): Promise<Outcome<TagChange | null>> {
  const path = `/agents/${id}`
  for (let tries = 1; ; tries++) {
    const read = await call<Agent>('GET', path)
    if (!read.ok) return read
    const plan = planTags(read.value, change)
    if (!plan) return { ...read, value: null }
    const tags = applyTags(read.value, plan).map((tag) => ({ id: tag }))
    const saved = await call('PUT', path, { body: { tags }, ifMatch: read.etag })
    if (saved.ok) return { ...saved, value: plan }
    if (saved.error.status !== 412 || tries === maxTries) return saved
  }
}

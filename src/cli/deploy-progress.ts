/** One live line while a group verb runs, on a terminal only: how many agents have it. */
import type { Api } from './api.js'
import { appliedPlaces, readGroup, type GroupSight } from './deploy-verdict.js'
import { createLiveLine } from './live-line.js'
import { pauseFor } from '../runtime/pause.js'

/** Chosen by us. */
const pollEveryMs = 500

export interface Progress {
  /** Takes the line away. */
  stop(): void
}

export interface Watched {
  readonly stderr: NodeJS.WriteStream
  /** What is said before there is more to say. */
  readonly doing: string
  /** Null: nothing yet. */
  readonly describe: (group: GroupSight) => string | null
}

export function showProgress(api: Api, path: string, watched: Watched): Progress {
  const { stderr, doing, describe } = watched
  if (!stderr.isTTY) return { stop: () => undefined }
  const line = createLiveLine(stderr)
  const ending = new AbortController()
  const isStopped = (): boolean => ending.signal.aborted
  const poll = async (): Promise<void> => {
    while (!isStopped()) {
      // What the poll meets, the verb's own call meets too, and tells.
      const group = await api.readObject(path).catch(() => undefined)
      if (group && !isStopped()) line.draw(describe(readGroup(group)) ?? doing)
      await pauseFor(pollEveryMs, ending.signal)
    }
  }
  line.draw(doing)
  void poll()
  return {
    stop: () => {
      ending.abort()
      line.remove()
    },
  }
}

export function describeDeploying(group: GroupSight, revisionBefore: number): string | null {
  const { name, places } = group
  if (places.length === 0) return null
  const failed = places.filter(({ state }) => state === 'failed').length
  const failures = failed > 0 ? `, ${failed} failed` : ''
  if (group.revision === revisionBefore) {
    const loading = places.filter(({ state }) => state === 'applying').length
    return `${name}: ${places.length - loading}/${places.length} loaded${failures}`
  }
  return `${name}: ${appliedPlaces(group).length}/${places.length} applied${failures}`
}

export function describeUndeploying({ name, places }: GroupSight): string {
  return `${name}: on ${places.length} ${places.length === 1 ? 'agent' : 'agents'} still`
}

/** A status line while a group verb runs, on terminals only: the number of agents that are done. */
import type { Api } from './api.js'
import { appliedPlaces, readGroup, type GroupStatus } from './deploy-verdict.js'
import { createStatusLine } from './status-line.js'
import { pauseFor } from '../runtime/pause.js'

const pollEveryMs = 500

export interface Progress {
  /** Removes the status line. */
  stop(): void
}

export interface ProgressOptions {
  readonly stderr: NodeJS.WriteStream
  /** Text shown before the first response. */
  readonly doing: string
  /** Returns null if there is nothing to show yet. */
  readonly describe: (group: GroupStatus) => string | null
}

export function showProgress(api: Api, path: string, watched: ProgressOptions): Progress {
  const { stderr, doing, describe } = watched
  if (!stderr.isTTY) return { stop: () => undefined }
  const line = createStatusLine(stderr)
  const ending = new AbortController()
  const isStopped = (): boolean => ending.signal.aborted
  const poll = async (): Promise<void> => {
    while (!isStopped()) {
      // The verb's own call fails for the same reason and reports it.
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

export function describeDeploying(group: GroupStatus, revisionBefore: number): string | null {
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

export function describeUndeploying({ name, places }: GroupStatus): string {
  return `${name}: on ${places.length} ${places.length === 1 ? 'agent' : 'agents'} still`
}

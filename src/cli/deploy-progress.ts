/** One live line while a deploy runs, on a terminal only: how many agents have it, redrawn in its place. */
import type { Api } from './api.js'
import { appliedPlaces, readGroup, type GroupSight } from './deploy-verdict.js'
import { toPrintableLine } from './printable-text.js'

/** Chosen by us. */
const pollEveryMs = 500

export interface Progress {
  /** Takes the line away. */
  stop(): void
}

export function showProgress(
  api: Api,
  path: string,
  {
    stderr,
    revisionBefore,
  }: { readonly stderr: NodeJS.WriteStream; readonly revisionBefore: number },
): Progress {
  let shown = ''
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const draw = (line: string): void => {
    if (line === shown) return
    shown = line
    stderr.write(`\r\x1b[K${line}`)
  }
  const poll = async (): Promise<void> => {
    // What the poll meets, the deploy's own call meets too, and tells.
    const group = await api.readObject(path).catch(() => undefined)
    if (stopped) return
    if (group) draw(describeProgress(readGroup(group), revisionBefore))
    timer = setTimeout(() => void poll(), pollEveryMs)
  }
  draw('deploying')
  void poll()
  return {
    stop: () => {
      stopped = true
      clearTimeout(timer)
      stderr.write('\r\x1b[K')
    },
  }
}

export function describeProgress(group: GroupSight, revisionBefore: number): string {
  const { places } = group
  const name = toPrintableLine(group.name)
  const failed = places.filter(({ state }) => state === 'failed').length
  const failures = failed > 0 ? `, ${failed} failed` : ''
  if (group.revision === revisionBefore) {
    const loading = places.filter(({ state }) => state === 'applying').length
    return `${name}: ${places.length - loading}/${places.length} loaded${failures}`
  }
  return `${name}: ${appliedPlaces(group).length}/${places.length} applied${failures}`
}

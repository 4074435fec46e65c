/** Finds which version of a file runs where, from the revisions of the groups that use it. Pure functions. */
import type { Group, HistoryEntry, Place } from '../../../resources/vclgroup.js'

interface Serving extends Pick<Group, 'name'> {
  readonly agentStates: readonly Pick<Place, 'agent' | 'revision'>[]
}

interface FileUse {
  readonly id: number
  readonly version: number
}

/** A group at one of its revisions. */
interface Served extends Pick<HistoryEntry, 'revision'> {
  readonly mainVCL: FileUse
  readonly includes: readonly FileUse[]
}

export interface RunningVersion {
  readonly group: string
  readonly version: number
  readonly agents: readonly string[]
}

export function findRunningVersions(
  fileId: number,
  groups: readonly { readonly group: Serving; readonly history: readonly Served[] }[],
): readonly RunningVersion[] {
  return groups.flatMap(({ group, history }) => {
    const versions = new Map<number, string[]>()
    for (const { agent, revision } of group.agentStates) {
      const version = findVersion(fileId, history, revision)
      if (version === undefined) continue
      const known = versions.get(version)
      if (known) known.push(agent.name)
      else versions.set(version, [agent.name])
    }
    return [...versions].map(([version, agents]) => ({ group: group.name, version, agents }))
  })
}

function findVersion(
  fileId: number,
  history: readonly Served[],
  revision: number | null,
): number | undefined {
  if (revision === null) return undefined
  const entry = history.find((one) => one.revision === revision)
  return entry && [entry.mainVCL, ...entry.includes].find(({ id }) => id === fileId)?.version
}

/** The number of cache names shown. */
const maxNames = 3

/** "edge-1, edge-2, edge-3 and 40 more (shop)". */
export function formatWhere({ agents, group }: RunningVersion): string {
  const more = agents.length - maxNames
  const names = agents.slice(0, maxNames).join(', ')
  return `${names}${more > 0 ? ` and ${more} more` : ''} (${group})`
}

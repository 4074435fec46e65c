/** Finds where the file's versions run, from the histories of the groups. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { findRunningVersions, type RunningVersion } from './running-versions.js'

/** At most this many groups are read; for the others a file is compared by its versions. */
const maxGroups = 20

export function useRunningVersions(
  fileId: number,
  users: readonly Group[],
): readonly RunningVersion[] {
  const placed = users
    .filter(({ agentStates }) => agentStates.some(({ revision }) => revision !== null))
    .slice(0, maxGroups)
  const key = JSON.stringify([fileId, placed.map(({ id, agentStates }) => [id, agentStates])])
  return useAnswer(key, none, async (signal) => {
    const groups = await Promise.all(placed.map((group) => readHistory(group, signal)))
    return findRunningVersions(fileId, groups)
  })
}

const none: readonly RunningVersion[] = []

async function readHistory(group: Group, signal: AbortSignal) {
  const path = `/vclgroups/${group.id}/history`
  const outcome = await call<readonly HistoryEntry[]>('GET', path, { signal })
  return { group, history: outcome.ok ? outcome.value : [] }
}

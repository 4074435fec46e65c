/** Where the file's versions run, as the groups' histories tell it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { findRunningVersions, type RunningVersion } from './running-versions.js'

/** Chosen by us: a file that more groups share is compared by its versions. */
const groupsMost = 20

export function useRunningVersions(
  fileId: number,
  users: readonly Group[],
): readonly RunningVersion[] {
  const running = useSignal<readonly RunningVersion[]>([])
  const placed = users
    .filter(({ agentStates }) => agentStates.some(({ revision }) => revision !== null))
    .slice(0, groupsMost)
  // As a text: the number of a mistyped address is NaN, which is never the same again.
  const key = JSON.stringify([fileId, placed.map(({ id, agentStates }) => [id, agentStates])])
  useEffect(() => {
    const abort = new AbortController()
    void Promise.all(placed.map((group) => readHistory(group, abort.signal))).then((groups) => {
      if (!abort.signal.aborted) running.value = findRunningVersions(fileId, groups)
    })
    return () => {
      abort.abort()
    }
  }, [key])
  return running.value
}

async function readHistory(group: Group, signal: AbortSignal) {
  const path = `/vclgroups/${group.id}/history`
  const outcome = await call<readonly HistoryEntry[]>('GET', path, { signal })
  return { group, history: outcome.ok ? outcome.value : [] }
}

/** Which revision a group goes back to: the newest that put something else on its caches than what is there now. */
import type { HistoryEntry } from '../../../resources/vclgroup.js'

type Entry = Pick<HistoryEntry, 'revision' | 'account' | 'action' | 'mainVCL' | 'includes'>

/** They note the revision of that time and make none. */
const withoutRevision = ['undeploy', 'stage', 'delstage']

/** `history`: the newest first. Null: there is none. */
export function findRollback<T extends Entry>(
  history: readonly T[],
): (T & { readonly revision: number }) | null {
  const made = history.filter(isMade)
  const now = made[0]
  if (!now) return null
  return made.find((entry) => filesOf(entry) !== filesOf(now)) ?? null
}

function isMade<T extends Entry>(entry: T): entry is T & { readonly revision: number } {
  return entry.revision !== null && !withoutRevision.includes(entry.action)
}

function filesOf({ mainVCL, includes }: Entry): string {
  return JSON.stringify([mainVCL, ...includes].map(({ id, version }) => [id, version]))
}

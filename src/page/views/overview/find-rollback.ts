/** Finds the revision for a rollback: the newest that deployed something different from what is there now. */
import type { HistoryEntry } from '../../../resources/vclgroup.js'

type Entry = Pick<HistoryEntry, 'revision' | 'account' | 'action' | 'mainVCL' | 'includes'>

/** These entries carry the current revision and create none. */
const withoutRevision = ['undeploy', 'stage', 'delstage']

/** `history`: newest first. Null: no such revision. */
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

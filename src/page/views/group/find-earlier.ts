/** What a rollback goes back to: values in, values out. */
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { compareFiles, isChanged } from './compare-pins.js'

/** The newest revision with other files than what is deployed; null: there is none. `history`: newest first. */
export function findEarlier(
  { wish, deployed, revision }: Pick<Group, 'wish' | 'deployed' | 'revision'>,
  history: readonly HistoryEntry[],
): HistoryEntry | null {
  if (!deployed || wish === null) return null
  const isEarlier = (entry: HistoryEntry): boolean =>
    entry.revision !== null &&
    entry.revision < revision &&
    compareFiles(entry, wish).some(isChanged)
  return history.find(isEarlier) ?? null
}

/** The history of a group, newest first. */
import { useEffect } from 'preact/hooks'
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { useObject, type LoadedObject } from '../../api/object.js'
import type { Verbs } from './use-verbs.js'

export function useHistory(
  { id }: Group,
  { isBusy }: Pick<Verbs, 'isBusy'>,
): LoadedObject<readonly HistoryEntry[]> {
  const history = useObject<readonly HistoryEntry[]>(`/vclgroups/${id}/history`, {
    follow: 'vclgroup',
    id,
  })
  // A refused action shows up only in the history.
  useEffect(history.reload, [isBusy])
  return history
}

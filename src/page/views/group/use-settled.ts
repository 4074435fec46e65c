/** What is asked about a whole fleet is asked anew when a deploy has come further, not at each cache that has. */
import { useEffect } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'

export function useSettled(group: Group, reload: () => void): void {
  const { revision, stateName, updated, agentStates } = group
  useEffect(reload, [revision, stateName, updated, agentStates.length])
}

/** Reloads fleet-wide data when a deploy has progressed, instead of once per cache. */
import { useEffect } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'

export function useSettled(group: Group, reload: () => void): void {
  const { revision, stateName, updated, agentStates } = group
  useEffect(reload, [revision, stateName, updated, agentStates.length])
}

/** Whether the user may change a group here; groups of the console are changed only in the console. */
import type { Group } from '../../../resources/vclgroup.js'
import { mayWrite } from '../../session/rights.js'

export function mayChangeGroup({ console }: Pick<Group, 'console'>): boolean {
  return !console && mayWrite('vclgroup')
}

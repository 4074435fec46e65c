/** Whether this person may change a group here; one of the console is changed there. */
import type { Group } from '../../../resources/vclgroup.js'
import { mayWrite } from '../../session/rights.js'

export function mayChangeGroup({ console }: Pick<Group, 'console'>): boolean {
  return !console && mayWrite('vclgroup')
}

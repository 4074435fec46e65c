/** Events that affect the view of a group: its fields, stage and history, and its state on its deployments. */
import type { EventType } from '../../../resources/event.js'

export const groupEvents: readonly EventType[] = ['vclgroup', 'deployment']

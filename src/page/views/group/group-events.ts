/** What changes how a group is shown: its own fields, stage and history, and how far it is on its deployments. */
import type { EventType } from '../../../resources/event.js'

export const groupEvents: readonly EventType[] = ['vclgroup', 'deployment']

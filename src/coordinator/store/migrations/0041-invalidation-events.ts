/**
 * Invalidations are told as events when they are made, tried again, failed somewhere, ended or deleted. How far each agent
 * is moves cursors, which all entries share, and is not noted.
 */
import type { Trigger } from '../database.js'
import { note, noteDeleted, on, onChange } from './change-triggers.js'
import type { Migration } from './migration.js'

export const invalidationEvents: Migration = {
  name: '0041-invalidation-events',
  statements: (dialect) => triggers.flatMap(dialect.trigger),
}

const shown = ['outcome', 'failed']

const triggers: readonly Trigger[] = [
  { ...on('invalidations', 'insert'), work: note('invalidation', 'new.id') },
  { ...onChange('invalidations', shown), work: note('invalidation', 'new.id') },
  { ...on('invalidations', 'delete'), work: noteDeleted('invalidation') },
]

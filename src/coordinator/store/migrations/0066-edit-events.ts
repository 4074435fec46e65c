/**
 * What people edit is told as events too: files, groups, domains and tags. Of a group it is what its deploys are made from, its
 * stage and its history; how far its deploys are is told by its deployments (0020-events.ts).
 */
import type { Trigger } from '../database.js'
import { note, noteDeleted, on, onChange } from './change-triggers.js'
import type { Migration } from './migration.js'

export const editEvents: Migration = {
  name: '0066-edit-events',
  statements: (dialect) => triggers.flatMap(dialect.trigger),
}

const shownOfFiles = [
  ...['name', 'organizationId', 'contentType', 'encoded', 'fileType', 'version', 'sha'],
  'managedBy',
]
/** An edit of its includes, domains or deployments moves `updatedAt`. */
const shownOfGroups = [
  ...['name', 'organizationId', 'root', 'keepOnFailure', 'mainFileId', 'mainFileVersion'],
  ...['managedBy', 'updatedAt'],
]
const isPeoples = (row: 'new' | 'old'): string => `${row}."groupId" is null`

const triggers: readonly Trigger[] = [
  { ...on('files', 'insert'), work: note('file', 'new.id') },
  { ...onChange('files', shownOfFiles), work: note('file', 'new.id') },
  { ...on('files', 'delete'), work: noteDeleted('file') },

  { ...on('vclGroups', 'insert'), work: note('vclgroup', 'new.id') },
  { ...onChange('vclGroups', shownOfGroups, 'vclGroups_edit'), work: note('vclgroup', 'new.id') },
  { ...on('vclGroups', 'delete'), work: noteDeleted('vclgroup') },
  { ...on('stages', 'insert'), work: note('vclgroup', 'new."groupId"') },
  { ...onChange('stages', ['revision', 'sha']), work: note('vclgroup', 'new."groupId"') },
  { ...on('stages', 'delete'), work: note('vclgroup', 'old."groupId"') },
  { ...on('history', 'insert'), work: note('vclgroup', 'new."groupId"') },

  { ...on('domains', 'insert'), work: note('domain', 'new.id') },
  { ...onChange('domains', ['fqdn', 'managedBy']), work: note('domain', 'new.id') },
  { ...on('domains', 'delete'), work: noteDeleted('domain') },

  // A group of the console has a tag that nobody sees.
  { ...on('tags', 'insert'), when: isPeoples('new'), work: note('tag', 'new.id') },
  { ...onChange('tags', ['name', 'managedBy'], 'tags_edit'), work: note('tag', 'new.id') },
  { ...on('tags', 'delete'), when: isPeoples('old'), work: noteDeleted('tag') },
]

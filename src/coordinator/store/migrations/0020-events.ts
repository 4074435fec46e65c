/**
 * Events. What changed is noted by triggers: in the same transaction, whoever writes, and only when something that is
 * shown differs. Notes become events later, with ids in the order of commits, which a sequence cannot give.
 *
 * SQLite drops a table's triggers with the table: a migration that makes one of these anew makes its triggers anew.
 */
import type { Trigger } from '../database.js'
import { differ, note, noteAll, noteDeleted, on, onChange } from './change-triggers.js'
import { makeStatementWriters, type Migration } from './migration.js'

export const eventTables: Migration = {
  name: '0020-events',
  statements: (dialect) => {
    const { id, integer, text } = dialect
    const { table, index } = makeStatementWriters(dialect)
    return [
      table(
        'changes',
        `id ${id}`,
        `kind ${text} not null`,
        `"objectId" ${integer} not null`,
        `deleted ${integer} not null default 0`,
        `"organizationId" ${integer}`,
      ),
      index('changes_object', 'changes (kind, "objectId")'),
      // No reference to organizations: what is told of one that was deleted ages as all events do.
      table(
        'events',
        `id ${integer} not null primary key`,
        `"createdAt" ${integer} not null`,
        `type ${text} not null`,
        `"organizationId" ${integer}`,
        `about ${text}`,
        `data ${text} not null`,
        `"sharedData" ${text}`,
      ),
      index('events_about', 'events (about, id) where about is not null'),
      table('eventCounter', `id ${integer} not null primary key`, `last ${integer} not null`),
      `insert into "eventCounter" values (1, 0)`,
      ...triggers.flatMap(dialect.trigger),
    ]
  },
}

const shownOfAgents = [
  ...['name', 'organizationId', 'state', 'engineState', 'engineError', 'engineHost', 'enginePort'],
  ...['engineVersion', 'agentVersion', 'lockedBecause', 'desiredRevision', 'attemptedRevision'],
  ...['attemptedResult', 'attemptedError', 'attemptedAt', 'effectiveRevision', 'drift', 'adoption'],
]
const shownOfPlaces = ['deploymentId', 'state', 'candidateState', 'appliedRevision']
const shownOfGroups = ['name', 'deployed', 'revision', 'wish', 'wishPending']
const shownOfDeployments = ['name', 'min', 'max']

const triggers: readonly Trigger[] = [
  { ...on('agents', 'insert'), work: note('agent', 'new.id') },
  { ...onChange('agents', shownOfAgents), work: note('agent', 'new.id') },
  {
    ...onChange('agents', ['state'], 'agents_state'),
    work: noteAll('group', '"groupId"', 'placements where "agentId" = new.id and stage = 0'),
  },
  { ...on('agents', 'delete'), work: noteDeleted('agent') },

  { ...on('agentTags', 'insert'), work: note('agent', 'new."agentId"') },
  { ...onChange('agentTags', ['static']), work: note('agent', 'new."agentId"') },
  { ...on('agentTags', 'delete'), work: note('agent', 'old."agentId"') },
  {
    ...onChange('tags', ['name']),
    work: noteAll('agent', '"agentId"', '"agentTags" where "tagId" = new.id'),
  },
  {
    ...onChange('tags', ['name'], 'tags_name'),
    work: noteAll('deployment', '"deploymentId"', '"deploymentTags" where "tagId" = new.id'),
  },

  // Stages are no deployment's.
  { ...on('placements', 'insert'), when: 'new.stage = 0', work: note('group', 'new."groupId"') },
  {
    ...onChange('placements', shownOfPlaces),
    when: `new.stage = 0 and (${differ(shownOfPlaces)})`,
    work: note('group', 'new."groupId"'),
  },
  { ...on('placements', 'delete'), when: 'old.stage = 0', work: note('group', 'old."groupId"') },
  { ...on('deploys', 'insert'), work: note('group', 'new."groupId"') },
  { ...on('deploys', 'delete'), work: note('group', 'old."groupId"') },

  { ...onChange('vclGroups', shownOfGroups), work: note('group', 'new.id') },
  { ...on('vclGroupDeployments', 'insert'), work: note('group', 'new."groupId"') },
  { ...on('vclGroupDeployments', 'delete'), work: note('deployment', 'old."deploymentId"') },

  { ...on('deployments', 'insert'), work: note('deployment', 'new.id') },
  { ...onChange('deployments', shownOfDeployments), work: note('deployment', 'new.id') },
  { ...on('deployments', 'delete'), work: noteDeleted('deployment') },
  { ...on('deploymentTags', 'insert'), work: note('deployment', 'new."deploymentId"') },
  { ...on('deploymentTags', 'delete'), work: note('deployment', 'old."deploymentId"') },

  { ...on('apiLogs', 'insert'), work: note('apilog', 'new.id') },
]

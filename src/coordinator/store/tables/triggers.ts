/**
 * Triggers record changes in the writing transaction, for every writer, and only when a visible column differs.
 * An agent's progress with invalidations moves cursors, which all entries share, and is not recorded.
 *
 * SQLite drops a table's triggers with the table: a migration that recreates a table must recreate its triggers.
 */
import type { ChangeKind } from '../../../resources/event.js'
import type { Trigger } from '../database.js'

const shownOfAgents = [
  ...['name', 'organizationId', 'state', 'engineState', 'engineError', 'engineHost', 'enginePort'],
  ...[
    'engineProduct',
    'engineVersion',
    'agentVersion',
    'lockedBecause',
    'desiredRevision',
    'attemptedRevision',
  ],
  ...['attemptedResult', 'attemptedError', 'attemptedAt', 'effectiveRevision', 'drift', 'adoption'],
]
const shownOfPlaces = ['deploymentId', 'state', 'candidateState', 'appliedRevision']
const shownOfDeployments = ['name', 'min', 'max']
/** The progress of a group's deploys. */
const shownOfDeploys = ['name', 'deployed', 'revision', 'wish', 'wishPending']
/** The inputs of a group's deploys; an edit of its includes, domains or deployments moves `updatedAt`. */
const shownOfGroups = [
  ...['name', 'organizationId', 'root', 'keepOnFailure', 'mainFileId', 'mainFileVersion'],
  ...['releases', 'managedBy', 'updatedAt'],
]
const shownOfFiles = [
  ...['name', 'organizationId', 'contentType', 'encoded', 'fileType', 'version', 'sha'],
  'managedBy',
]

const shownOfCertificates = [
  ...['name', 'organizationId', 'sha', 'released', 'candidate', 'deployError', 'updatedAt'],
]

/** An edit moves `updatedAt`. */
const shownOfWebhooks = [
  ...['name', 'organizationId', 'enabled', 'failingSince', 'lastError', 'updatedAt'],
]

/** The groups that the VCL belongs to: as current, candidate or previous VCL. */
const groupsOf = (row: 'new' | 'old') =>
  `placements where "agentId" = ${row}."agentId" and stage = 0 and ` +
  `${row}.vcl in ("currentName", "candidateName", "previousName")`

const backendTriggers: readonly Trigger[] = [
  {
    ...on('sickBackends', 'insert'),
    work: noteAll('backend', '"groupId"', groupsOf('new')),
  },
  {
    ...on('sickBackends', 'delete'),
    work: noteAll('backend', '"groupId"', groupsOf('old')),
  },
  // Sick backends of a disconnected agent do not count.
  {
    ...onChange('agents', ['state', 'engineState'], 'agents_backends'),
    work: noteAll(
      'backend',
      '"groupId"',
      'placements where "agentId" = new.id and stage = 0 and ' +
        'exists (select 1 from "sickBackends" where "agentId" = new.id)',
    ),
  },
]

/** A stage belongs to no deployment: changes on its caches are recorded for its group. */
const stageTriggers: readonly Trigger[] = [
  {
    ...onChange('agents', ['state'], 'agents_stages'),
    work: noteAll('vclgroup', '"groupId"', 'placements where "agentId" = new.id and stage = 1'),
  },
  {
    ...on('placements', 'insert'),
    name: 'placements_stage_insert',
    when: 'new.stage = 1',
    work: note('vclgroup', 'new."groupId"'),
  },
  {
    ...onChange('placements', shownOfPlaces, 'placements_stage_update'),
    when: `new.stage = 1 and (${differ(shownOfPlaces)})`,
    work: note('vclgroup', 'new."groupId"'),
  },
  {
    ...on('placements', 'delete'),
    name: 'placements_stage_delete',
    when: 'old.stage = 1',
    work: note('vclgroup', 'old."groupId"'),
  },
]

export const triggers: readonly Trigger[] = [
  { ...on('agents', 'insert'), work: note('agent', 'new.id') },
  { ...onChange('agents', shownOfAgents), work: note('agent', 'new.id') },
  { ...onChange('agents', ['logTrouble'], 'agents_log'), work: note('agent', 'new.id') },
  { ...onChange('agents', ['draining'], 'agents_draining'), work: note('agent', 'new.id') },
  {
    ...onChange('agents', ['state'], 'agents_state'),
    work: noteAll('group', '"groupId"', 'placements where "agentId" = new.id and stage = 0'),
  },
  { ...on('agents', 'delete'), work: noteDeleted('agent') },

  { ...on('agentTags', 'insert'), work: note('agent', 'new."agentId"') },
  { ...onChange('agentTags', ['static']), work: note('agent', 'new."agentId"') },
  { ...on('agentTags', 'delete'), work: note('agent', 'old."agentId"') },

  { ...on('groupMembers', 'insert'), work: note('agent', 'new."agentId"') },
  { ...on('groupMembers', 'delete'), work: note('agent', 'old."agentId"') },

  { ...on('tags', 'insert'), work: note('tag', 'new.id') },
  { ...onChange('tags', ['name', 'managedBy'], 'tags_edit'), work: note('tag', 'new.id') },
  {
    ...onChange('tags', ['name']),
    work: noteAll('agent', '"agentId"', '"agentTags" where "tagId" = new.id'),
  },
  {
    ...onChange('tags', ['name'], 'tags_name'),
    work: noteAll('deployment', '"deploymentId"', '"deploymentTags" where "tagId" = new.id'),
  },
  { ...on('tags', 'delete'), work: noteDeleted('tag') },

  { ...on('placements', 'insert'), when: 'new.stage = 0', work: note('group', 'new."groupId"') },
  {
    ...onChange('placements', shownOfPlaces),
    when: `new.stage = 0 and (${differ(shownOfPlaces)})`,
    work: note('group', 'new."groupId"'),
  },
  { ...on('placements', 'delete'), when: 'old.stage = 0', work: note('group', 'old."groupId"') },
  ...stageTriggers,
  { ...on('rollouts', 'insert'), work: note('rollout', 'new.id') },
  { ...onChange('rollouts', ['state', 'wave', 'reason']), work: note('rollout', 'new.id') },
  { ...on('deploys', 'insert'), work: note('group', 'new."groupId"') },
  { ...on('deploys', 'delete'), work: note('group', 'old."groupId"') },

  { ...on('vclGroups', 'insert'), work: note('vclgroup', 'new.id') },
  { ...onChange('vclGroups', shownOfDeploys), work: note('group', 'new.id') },
  { ...onChange('vclGroups', shownOfGroups, 'vclGroups_edit'), work: note('vclgroup', 'new.id') },
  { ...on('vclGroups', 'delete'), work: noteDeleted('vclgroup') },
  { ...on('stages', 'insert'), work: note('vclgroup', 'new."groupId"') },
  { ...onChange('stages', ['revision', 'sha']), work: note('vclgroup', 'new."groupId"') },
  { ...on('stages', 'delete'), work: note('vclgroup', 'old."groupId"') },
  { ...on('history', 'insert'), work: note('vclgroup', 'new."groupId"') },
  { ...on('vclGroupDeployments', 'insert'), work: note('group', 'new."groupId"') },
  { ...on('vclGroupDeployments', 'delete'), work: note('deployment', 'old."deploymentId"') },

  { ...on('deployments', 'insert'), work: note('deployment', 'new.id') },
  { ...onChange('deployments', shownOfDeployments), work: note('deployment', 'new.id') },
  { ...on('deployments', 'delete'), work: noteDeleted('deployment') },
  { ...on('deploymentTags', 'insert'), work: note('deployment', 'new."deploymentId"') },
  { ...on('deploymentTags', 'delete'), work: note('deployment', 'old."deploymentId"') },

  { ...on('files', 'insert'), work: note('file', 'new.id') },
  { ...onChange('files', shownOfFiles), work: note('file', 'new.id') },
  { ...on('files', 'delete'), work: noteDeleted('file') },

  { ...on('domains', 'insert'), work: note('domain', 'new.id') },
  { ...onChange('domains', ['fqdn', 'managedBy']), work: note('domain', 'new.id') },
  { ...on('domains', 'delete'), work: noteDeleted('domain') },

  { ...on('certificates', 'insert'), work: note('certificate', 'new.id') },
  { ...onChange('certificates', shownOfCertificates), work: note('certificate', 'new.id') },
  { ...on('certificates', 'delete'), work: noteDeleted('certificate') },
  { ...on('certificateDeployments', 'insert'), work: note('certificate', 'new."certificateId"') },
  { ...on('certificateAgents', 'insert'), work: note('certificate', 'new."certificateId"') },
  {
    ...onChange('certificateAgents', ['state', 'sha', 'candidateState']),
    work: note('certificate', 'new."certificateId"'),
  },

  { ...on('invalidations', 'insert'), work: note('invalidation', 'new.id') },
  { ...onChange('invalidations', ['outcome', 'failed']), work: note('invalidation', 'new.id') },
  { ...on('invalidations', 'delete'), work: noteDeleted('invalidation') },

  { ...on('apiLogs', 'insert'), work: note('apilog', 'new.id') },

  { ...on('webhooks', 'insert'), work: note('webhook', 'new.id') },
  { ...onChange('webhooks', shownOfWebhooks), work: note('webhook', 'new.id') },
  { ...on('webhooks', 'delete'), work: noteDeleted('webhook') },

  ...backendTriggers,
]

function on(table: string, after: 'insert' | 'delete'): Omit<Trigger, 'work'> {
  return { name: `${table}_${after}`, table, after }
}

/** Fires only when one of these columns differs. */
function onChange(
  table: string,
  columns: readonly string[],
  name: string = `${table}_update`,
): Omit<Trigger, 'work'> {
  return { name, table, after: `update of ${columns.map(quote).join(', ')}`, when: differ(columns) }
}

function differ(columns: readonly string[]): string {
  return columns
    .map((column) => `new.${quote(column)} is distinct from old.${quote(column)}`)
    .join(' or ')
}

function note(kind: ChangeKind, id: string): string {
  return `insert into changes (kind, "objectId") values ('${kind}', ${id})`
}

function noteAll(kind: ChangeKind, id: string, from: string): string {
  return `insert into changes (kind, "objectId") select '${kind}', ${id} from ${from}`
}

function noteDeleted(kind: ChangeKind): string {
  return `insert into changes (kind, "objectId", deleted, "organizationId")
    values ('${kind}', old.id, 1, old."organizationId")`
}

function quote(column: string): string {
  return `"${column}"`
}

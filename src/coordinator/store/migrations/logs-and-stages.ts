/** Adds why an agent cannot read its cache's log, and triggers that record this and changes on the caches of a stage. */
import type { Migration } from './migration.js'

const noteStage = (row: 'new' | 'old') =>
  `insert into changes (kind, "objectId") values ('vclgroup', ${row}."groupId")`
const shownOfPlaces = ['deploymentId', 'state', 'candidateState', 'appliedRevision']
const placeDiffers = shownOfPlaces
  .map((column) => `new."${column}" is distinct from old."${column}"`)
  .join(' or ')

export const logsAndStages: Migration = {
  name: '0005-logs-and-stages',
  statements: ({ text, trigger }) => [
    `alter table "agents" add column "logTrouble" ${text}`,
    ...trigger({
      name: 'agents_log',
      table: 'agents',
      after: 'update of "logTrouble"',
      when: 'new."logTrouble" is distinct from old."logTrouble"',
      work: `insert into changes (kind, "objectId") values ('agent', new.id)`,
    }),
    ...trigger({
      name: 'agents_stages',
      table: 'agents',
      after: 'update of "state"',
      when: 'new."state" is distinct from old."state"',
      work: `insert into changes (kind, "objectId") select 'vclgroup', "groupId" from placements where "agentId" = new.id and stage = 1`,
    }),
    ...trigger({
      name: 'placements_stage_insert',
      table: 'placements',
      after: 'insert',
      when: 'new.stage = 1',
      work: noteStage('new'),
    }),
    ...trigger({
      name: 'placements_stage_update',
      table: 'placements',
      after: `update of ${shownOfPlaces.map((column) => `"${column}"`).join(', ')}`,
      when: `new.stage = 1 and (${placeDiffers})`,
      work: noteStage('new'),
    }),
    ...trigger({
      name: 'placements_stage_delete',
      table: 'placements',
      after: 'delete',
      when: 'old.stage = 1',
      work: noteStage('old'),
    }),
  ],
}

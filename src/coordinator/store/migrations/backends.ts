/** Adds backends as agents report them, and triggers that record when one becomes sick or healthy. */
import type { Migration } from './migration.js'

const places = 'placements where "agentId" = '
const servedAs = (row: 'new' | 'old') =>
  `${places}${row}."agentId" and stage = 0 and ${row}.vcl in ("currentName", "candidateName", "previousName")`
const note = 'insert into changes (kind, "objectId") select \'backend\', "groupId" from '

export const backends: Migration = {
  name: '0003-backends',
  statements: ({ integer, text, tableOptions, trigger }) => [
    `create table "servedVcls" ("agentId" ${integer} not null references "agents" on delete cascade, "vcl" ${text} not null, ` +
      `"backends" ${text} not null, "omittedHealthy" ${integer} not null, "omittedSick" ${integer} not null, ` +
      `primary key ("agentId", "vcl")) ${tableOptions}`,
    `create table "sickBackends" ("agentId" ${integer} not null references "agents" on delete cascade, "vcl" ${text} not null, ` +
      `"backend" ${text} not null, "since" ${integer} not null, primary key ("agentId", "vcl", "backend")) ${tableOptions}`,
    ...trigger({
      name: 'sickBackends_insert',
      table: 'sickBackends',
      after: 'insert',
      work: note + servedAs('new'),
    }),
    ...trigger({
      name: 'sickBackends_delete',
      table: 'sickBackends',
      after: 'delete',
      work: note + servedAs('old'),
    }),
    ...trigger({
      name: 'agents_backends',
      table: 'agents',
      after: 'update of "state", "engineState"',
      when: 'new."state" is distinct from old."state" or new."engineState" is distinct from old."engineState"',
      work: `${note}${places}new.id and stage = 0 and exists (select 1 from "sickBackends" where "agentId" = new.id)`,
    }),
  ],
}

/** Adds rollouts, groups' rollout policies, the rollout of a deploy, and triggers that record them. */
import type { Migration } from './migration.js'

const noted = ['state', 'wave', 'reason']
const differs = noted
  .map((column) => `new."${column}" is distinct from old."${column}"`)
  .join(' or ')

export const rollouts: Migration = {
  name: '0008-rollouts',
  statements: ({ id, integer, text, tableOptions, trigger }) => [
    `create table "rollouts" ("id" ${id}, "groupId" ${integer} not null references "vclGroups" on delete cascade, ` +
      `"groupName" ${text} not null, "organizationId" ${integer} references "organizations", "revision" ${integer} not null, ` +
      `"fromRevision" ${integer} not null, "action" ${text} not null, "state" ${integer} not null, "wave" ${integer} not null, ` +
      `"waves" ${text} not null, "gates" ${text} not null, "policy" ${text} not null, "sources" ${text} not null, ` +
      `"fromSources" ${text} not null, "account" ${text} not null, "traceId" ${text} not null, "startedAt" ${integer} not null, ` +
      `"endedAt" ${integer}, "reason" ${text}, "aborted" ${integer} not null, "bakedMs" ${integer} not null, ` +
      `"epoch" ${integer} not null) ${tableOptions}`,
    'create index "rollouts_group" on "rollouts" ("groupId", "id")',
    'create index "rollouts_organization" on "rollouts" ("organizationId", "id")',
    'create index "rollouts_ended" on "rollouts" ("endedAt")',
    'create index "rollouts_running" on "rollouts" ("groupId") where state > 1 and state < 6',
    `alter table "vclGroups" add column "rollout" ${text}`,
    `alter table "deploys" add column "rolloutId" ${integer}`,
    ...trigger({
      name: 'rollouts_insert',
      table: 'rollouts',
      after: 'insert',
      work: `insert into changes (kind, "objectId") values ('rollout', new.id)`,
    }),
    ...trigger({
      name: 'rollouts_update',
      table: 'rollouts',
      after: `update of ${noted.map((column) => `"${column}"`).join(', ')}`,
      when: differs,
      work: `insert into changes (kind, "objectId") values ('rollout', new.id)`,
    }),
  ],
}

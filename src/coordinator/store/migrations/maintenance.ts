/** Adds drained agents with their trigger, agents that took another agent's name, and frozen organizations. */
import type { Migration } from './migration.js'

export const maintenance: Migration = {
  name: '0006-maintenance',
  statements: ({ text, trigger }) => [
    `alter table "agents" add column "draining" ${text}`,
    `alter table "agents" add column "toldName" ${text}`,
    'create index "agents_draining" on "agents" ("id") where "draining" is not null',
    ...trigger({
      name: 'agents_draining',
      table: 'agents',
      after: 'update of "draining"',
      when: 'new."draining" is distinct from old."draining"',
      work: `insert into changes (kind, "objectId") values ('agent', new.id)`,
    }),
    `alter table "organizations" add column "frozen" ${text}`,
  ],
}

/** Adds webhooks, their pending and past deliveries, and triggers that record changes to them. */
import type { Migration } from './migration.js'

const shown = ['name', 'organizationId', 'enabled', 'failingSince', 'lastError', 'updatedAt'].map(
  (column) => `"${column}"`,
)

export const webhooks: Migration = {
  name: '0007-webhooks',
  statements: ({ id, integer, text, tableOptions, trigger }) => [
    `create table "webhooks" ("id" ${id}, "organizationId" ${integer} references "organizations" on delete cascade, ` +
      `"name" ${text} not null, "url" ${text} not null, "sealedUrl" ${text}, "sealedSecret" ${text}, ` +
      `"types" ${text} not null, "filter" ${text} not null, "format" ${text} not null, "enabled" ${integer} not null, ` +
      `"position" ${integer} not null, "dropped" ${integer} not null, "failures" ${integer} not null, ` +
      `"failingSince" ${integer}, "lastError" ${text}, "retryAt" ${integer} not null, ` +
      `"createdAt" ${integer} not null, "updatedAt" ${integer} not null) ${tableOptions}`,
    'create unique index "webhooks_name" on "webhooks" (coalesce("organizationId", 0), "name")',
    'create index "webhooks_organization" on "webhooks" ("organizationId", "name")',
    `create table "webhookDeliveries" ("id" ${id}, "webhookId" ${integer} not null references "webhooks" on delete cascade, ` +
      `"state" ${text} not null, "type" ${text} not null, "at" ${integer} not null, "data" ${text}, ` +
      `"attempts" ${integer} not null, "status" ${integer}, "answer" ${text}, "error" ${text}, "endedAt" ${integer}) ${tableOptions}`,
    'create index "webhookDeliveries_state" on "webhookDeliveries" ("webhookId", "state", "id")',
    ...trigger({
      name: 'webhooks_insert',
      table: 'webhooks',
      after: 'insert',
      work: `insert into changes (kind, "objectId") values ('webhook', new.id)`,
    }),
    ...trigger({
      name: 'webhooks_update',
      table: 'webhooks',
      after: `update of ${shown.join(', ')}`,
      when: shown.map((column) => `new.${column} is distinct from old.${column}`).join(' or '),
      work: `insert into changes (kind, "objectId") values ('webhook', new.id)`,
    }),
    ...trigger({
      name: 'webhooks_delete',
      table: 'webhooks',
      after: 'delete',
      work:
        `insert into changes (kind, "objectId", deleted, "organizationId")\n    ` +
        `values ('webhook', old.id, 1, old."organizationId")`,
    }),
  ],
}

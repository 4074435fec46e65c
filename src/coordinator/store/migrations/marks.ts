/** Adds indexes to find history by time, within an organization and across all. */
import type { Migration } from './migration.js'

export const marks: Migration = {
  name: '0002-marks',
  statements: () => [
    'create index "history_at" on "history" ("at")',
    'create index "history_organization" on "history" ("organizationId", "at")',
    'create index "invalidations_created" on "invalidations" ("createdAt")',
    'create index "invalidations_organization_created" on "invalidations" ("organizationId", "createdAt")',
    'create index "agents_state_since" on "agents" ("state", "lastStateChangeAt")',
  ],
}

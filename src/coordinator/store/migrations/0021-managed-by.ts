/** Which set of `cachefleet apply` an object belongs to, so that another machine prunes the same. */
import type { Migration } from './migration.js'

const tables = ['tags', 'files', 'domains', 'deployments', '"vclGroups"']

export const managedByColumns: Migration = {
  name: '0021-managed-by',
  statements: ({ text }) =>
    tables.map((table) => `alter table ${table} add column "managedBy" ${text}`),
}

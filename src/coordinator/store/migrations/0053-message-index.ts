/** Finds what the api log tells of some groups and caches, for the console's users that are for these only. */
import type { Migration } from './migration.js'

export const messageIndex: Migration = {
  name: '0053-message-index',
  statements: () => [`create index "apiLogs_key" on "apiLogs" ("keyType", "keyId", id)`],
}

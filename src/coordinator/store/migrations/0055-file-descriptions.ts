/** A branch of the console has a description; it is a file. */
import type { Migration } from './migration.js'

export const fileDescriptions: Migration = {
  name: '0055-file-descriptions',
  statements: ({ text }) => [
    `alter table files add column description ${text} not null default ''`,
  ],
}

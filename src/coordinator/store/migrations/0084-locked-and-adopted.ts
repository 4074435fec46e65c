/** What a locked agent tells of its cache, and how an adopted text differs from the group that it was to join. */
import type { Migration } from './migration.js'

export const lockedAndAdoptedColumns: Migration = {
  name: '0084-locked-and-adopted',
  statements: ({ text }) => [
    `alter table agents add column held ${text}`,
    `alter table agents add column "adoptionDifference" ${text}`,
  ],
}

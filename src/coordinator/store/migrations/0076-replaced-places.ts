/** A place that another group takes, and what history says of it; an agent whose first desired state waits for its groups. */
import type { Migration } from './migration.js'

export const replacedPlaces: Migration = {
  name: '0076-replaced-places',
  statements: ({ integer, text }) => [
    `alter table placements add column "replacedBy" ${integer}`,
    // Before, only a stage had one who took its place, by a promote: its own group.
    `update placements set "replacedBy" = "groupId", leaving = 0 where leaving = 1`,
    `alter table history add column replaced ${text}`,
    `alter table history add column "replacedBy" ${text}`,
    `alter table agents add column "awaitsPlacement" ${integer} not null default 0`,
  ],
}

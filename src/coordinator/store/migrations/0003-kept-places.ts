/** Places that stay although their agent is Down; caches that restarted, on which what failed is tried again. */
import type { Migration } from './migration.js'

export const keptPlaces: Migration = {
  name: '0003-kept-places',
  statements: ({ integer }) => [
    `alter table placements add column "keptDown" ${integer} not null default 0`,
    `alter table agents add column "cachePid" ${integer}`,
    `alter table agents add column "cacheRestarted" ${integer} not null default 0`,
  ],
}

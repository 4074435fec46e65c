/** What is looked for at each decision and placement pass, and mostly not there: the whole fleet must not be passed for it. */
import type { Migration } from './migration.js'

export const waitingRows: Migration = {
  name: '0085-waiting-rows',
  statements: () => [
    `create index placements_replaced on placements ("replacedBy") where "replacedBy" is not null`,
    `create index agents_unplaced on agents (id) where "awaitsPlacement" = 1`,
  ],
}

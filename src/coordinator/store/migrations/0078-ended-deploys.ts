/** Which deploy an entry of the history is the end of: who ran it asks when somebody else has ended it. */
import type { Migration } from './migration.js'

export const endedDeploys: Migration = {
  name: '0078-ended-deploys',
  statements: ({ integer }) => [`alter table history add column "deployId" ${integer}`],
}

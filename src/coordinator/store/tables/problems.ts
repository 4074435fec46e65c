/** Current problems, and objects to check again because they changed. */
import type { ProblemCode } from '../../../resources/problem.js'
import { flag, indexWhere, integer, table, text } from './table.js'

export const problemTables = {
  /** Maintained by the problem follower; an ended problem stays until its end has been published. */
  openProblems: table(
    {
      /** A noun, as in `errorKey`. */
      objectType: text(),
      objectId: integer(),
      code: text<ProblemCode>(),
      /** The object's organization. Without a foreign key, as for events. */
      organizationId: integer().orNull(),
      objectName: text(),
      severity: integer(),
      since: integer(),
      /** JSON of Problem, for the owner and the system administrator. */
      data: text(),
      /** JSON of Problem, for every organization: problems of shared agents; null: for none. */
      sharedData: text().orNull(),
      /** When it was first detected. */
      seenAt: integer(),
      /** An event of it was published. */
      told: flag(),
      /** Null: it is open. */
      endedAt: integer().orNull(),
    },
    {
      primaryKey: ['objectType', 'objectId', 'code'],
      indexes: {
        worst: indexWhere('"endedAt" is null', 'severity', 'since'),
        /** Queried twice a second; usually there are no such rows. */
        untold: indexWhere('told = 0 or "endedAt" is not null', 'seenAt'),
      },
    },
  ),

  problemChecks: table(
    { objectType: text(), objectId: integer() },
    { primaryKey: ['objectType', 'objectId'] },
  ),
}

/** What is wrong now, and what has to be judged anew because something of it changed. */
import type { ProblemCode } from '../../../resources/problem.js'
import { flag, indexWhere, integer, table, text } from './table.js'

export const problemTables = {
  /** Kept true by the problem follower; a row that has ended stays until its end is told. */
  openProblems: table(
    {
      /** A noun, as in `errorKey`. */
      objectType: text(),
      objectId: integer(),
      code: text<ProblemCode>(),
      /** Of the object. Without a reference, as events. */
      organizationId: integer().orNull(),
      objectName: text(),
      severity: integer(),
      since: integer(),
      /** JSON of Problem, for the owner and the system administrator. */
      data: text(),
      /** JSON of Problem, for every organization: of shared agents; null: for none. */
      sharedData: text().orNull(),
      /** When it was first found. */
      seenAt: integer(),
      /** There was an event of it. */
      told: flag(),
      /** Null: it is open. */
      endedAt: integer().orNull(),
    },
    {
      primaryKey: ['objectType', 'objectId', 'code'],
      indexes: {
        worst: indexWhere('"endedAt" is null', 'severity', 'since'),
        /** Looked at twice a second, and mostly there is none. */
        untold: indexWhere('told = 0 or "endedAt" is not null', 'seenAt'),
      },
    },
  ),

  problemChecks: table(
    { objectType: text(), objectId: integer() },
    { primaryKey: ['objectType', 'objectId'] },
  ),
}

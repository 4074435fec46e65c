/** Events: changes not yet published, the events of the last hour, and their counter. */
import type { ChangeKind } from '../../../resources/event.js'
import { flag, id, index, indexWhere, integer, table, text } from './table.js'

export const eventTables = {
  /** Written by triggers (`triggers.ts`), in the transaction of the change; deleted once published. */
  changes: table(
    {
      /** Rows may be committed in a different order. */
      id: id(),
      kind: text<ChangeKind>(),
      objectId: integer(),
      deleted: flag().default(0),
      /** Of a deleted object: it is recorded nowhere else. */
      organizationId: integer().orNull(),
    },
    { indexes: { object: index('kind', 'objectId') } },
  ),

  /** Without a foreign key to organizations: events of a deleted one expire like all others. */
  events: table(
    {
      /** From `eventCounter`: without gaps and in commit order, which a sequence cannot guarantee. */
      id: integer().primaryKey(),
      createdAt: integer(),
      type: text(),
      organizationId: integer().orNull(),
      /** Equal for events about the same subject; null: every event has its own subject. */
      about: text().orNull(),
      /** JSON as the API shows it to the owner and the system administrator. */
      data: text(),
      /** JSON as the API shows it to every organization; null: shown to none. */
      sharedData: text().orNull(),
    },
    { indexes: { about: indexWhere('about is not null', 'about', 'id') } },
  ),

  /** One row; a transaction that creates events holds its lock until the commit. */
  eventCounter: table({
    id: integer().primaryKey(),
    /** The newest event's id; 0 before the first. */
    last: integer(),
  }),
}

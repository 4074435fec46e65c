/** Events: what changed and is still to be told, what was told in the last hour, and its count. */
import type { ChangeKind } from '../../../resources/event.js'
import { flag, id, index, indexWhere, integer, table, text } from './table.js'

export const eventTables = {
  /** Written by triggers (`triggers.ts`), in the transaction of what changed; gone once it is told. */
  changes: table(
    {
      /** May be committed in another order. */
      id: id(),
      kind: text<ChangeKind>(),
      objectId: integer(),
      deleted: flag().default(0),
      /** Of what was deleted: nothing else knows it any more. */
      organizationId: integer().orNull(),
    },
    { indexes: { object: index('kind', 'objectId') } },
  ),

  /** Without a reference to organizations: what is told of one that was deleted ages as all events do. */
  events: table(
    {
      /** From `eventCounter`: without gaps, in the order of the commits, which a sequence cannot give. */
      id: integer().primaryKey(),
      createdAt: integer(),
      type: text(),
      organizationId: integer().orNull(),
      /** Events about the same have the same; null: each is about something of its own. */
      about: text().orNull(),
      /** JSON as the API shows it to the owner and the system administrator. */
      data: text(),
      /** JSON as the API shows it to every organization; null: to none. */
      sharedData: text().orNull(),
    },
    { indexes: { about: indexWhere('about is not null', 'about', 'id') } },
  ),

  /** One row; whoever makes events holds its lock until its commit. */
  eventCounter: table({
    id: integer().primaryKey(),
    /** The newest event's id; 0 before the first. */
    last: integer(),
  }),
}

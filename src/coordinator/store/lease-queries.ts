/**
 * Leases of the coordinators' periodic duties. Each change of the holder makes the next epoch: what a holder writes is
 * conditional on its epoch (`holdsLease`), so that one which slept through its lease writes nothing.
 */
import { sql } from 'kysely'
import type { Queries } from './store.js'

/** A time in a duty: from the moment that a holder took it until another does. */
export interface Term {
  readonly duty: string
  readonly holder: string
  readonly epoch: number
}

interface WantedLease {
  readonly duty: string
  readonly holder: string
  readonly expiresAt: number
  /** Whose lease ended before may be replaced. */
  readonly now: number
}

/**
 * Takes a free lease or prolongs the holder's own; undefined while it is another's. Call under the decision lock: whoever
 * has read there that it holds the lease keeps it until its transaction ends.
 */
export async function takeLease(
  queries: Queries,
  { duty, holder, expiresAt, now }: WantedLease,
): Promise<Term | undefined> {
  const row = await queries
    .insertInto('leases')
    .values({ name: duty, holder, epoch: 1, expiresAt })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({
          holder,
          expiresAt,
          epoch: sql`case when leases.holder = ${holder} then leases.epoch else leases.epoch + 1 end`,
        })
        .where((e) => e.or([e('leases.holder', '=', holder), e('leases.expiresAt', '<', now)])),
    )
    .returning('epoch')
    .executeTakeFirst()
  return row && { duty, holder, epoch: row.epoch }
}

/** Answers false when another has the lease. */
export async function renewLease(
  queries: Queries,
  term: Term,
  expiresAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('leases')
    .set({ expiresAt })
    .where('name', '=', term.duty)
    .where('holder', '=', term.holder)
    .where('epoch', '=', term.epoch)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Call under the decision lock, before the first write of the duty. */
export async function holdsLease(queries: Queries, term: Term): Promise<boolean> {
  const row = await queries
    .selectFrom('leases')
    .select('epoch')
    .where('name', '=', term.duty)
    .where('holder', '=', term.holder)
    .executeTakeFirst()
  return row?.epoch === term.epoch
}

/** All of a holder: others need not wait until they expire. */
export async function releaseLeases(queries: Queries, holder: string): Promise<void> {
  await queries.updateTable('leases').set({ expiresAt: 0 }).where('holder', '=', holder).execute()
}

/**
 * Leases of the coordinators' periodic tasks. Each change of the holder starts a new epoch. A holder's writes are
 * conditional on its epoch (`holdsLease`), so a coordinator that was suspended beyond its lease writes nothing.
 */
import { sql } from 'kysely'
import type { Queries } from './store.js'

/** A lease as its holder took it; the epoch ends when another coordinator takes the lease. */
export interface Lease {
  readonly task: string
  readonly holder: string
  readonly epoch: number
}

interface WantedLease {
  readonly task: string
  readonly holder: string
  readonly expiresAt: number
  /** A holder whose lease expired before this time may be replaced. */
  readonly now: number
}

/**
 * Takes a free lease or renews the holder's own; undefined while another coordinator holds it. Call under the decision
 * lock: a holder that has confirmed its lease under that lock keeps it until its transaction ends.
 */
export async function takeLease(
  queries: Queries,
  { task, holder, expiresAt, now }: WantedLease,
): Promise<Lease | undefined> {
  const row = await queries
    .insertInto('leases')
    .values({ name: task, holder, epoch: 1, expiresAt })
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
  return row && { task, holder, epoch: row.epoch }
}

/** Returns false when another coordinator holds the lease. */
export async function renewLease(
  queries: Queries,
  lease: Lease,
  expiresAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('leases')
    .set({ expiresAt })
    .where('name', '=', lease.task)
    .where('holder', '=', lease.holder)
    .where('epoch', '=', lease.epoch)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Call under the decision lock, before the first write of the task. */
export async function holdsLease(queries: Queries, lease: Lease): Promise<boolean> {
  const row = await queries
    .selectFrom('leases')
    .select('epoch')
    .where('name', '=', lease.task)
    .where('holder', '=', lease.holder)
    .executeTakeFirst()
  return row?.epoch === lease.epoch
}

/** Releases all leases of a holder: others need not wait until they expire. */
export async function releaseLeases(queries: Queries, holder: string): Promise<void> {
  await queries.updateTable('leases').set({ expiresAt: 0 }).where('holder', '=', holder).execute()
}

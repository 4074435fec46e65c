/** Freezes: periods in which the groups of an organization are not deployed (docs/behaviour.md, Freeze). */
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Frozen } from '../../resources/freeze.js'
import type { Actor } from '../../resources/permission.js'
import type { Queries } from '../store/store.js'

export interface FreezeRecord extends Frozen {
  /** When the freeze was set, in milliseconds since 1970. */
  readonly since: number
}

/** Parses the `frozen` column, which only `organizations.ts` writes. Null if the freeze has ended. */
export function parseFreeze(json: string | null, nowMs: number): FreezeRecord | null {
  const frozen = json === null ? null : (JSON.parse(json) as FreezeRecord)
  return frozen !== null && frozen.until * 1000 > nowMs ? frozen : null
}

/** Null without an organization, or if the organization is not frozen now. */
export async function readFreeze(
  queries: Queries,
  organizationId: number | null,
  nowMs: number,
): Promise<FreezeRecord | null> {
  if (organizationId === null) return null
  const row = await queries
    .selectFrom('organizations')
    .select('frozen')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return parseFreeze(row?.frozen ?? null, nowMs)
}

/** The organizations that are frozen now, each with the end of its freeze in milliseconds since 1970. */
export async function readFrozenUntil(
  queries: Queries,
  nowMs: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = await queries
    .selectFrom('organizations')
    .select(['id', 'frozen'])
    .where('frozen', 'is not', null)
    .execute()
  const ends = rows.map(({ id, frozen }) => [id, parseFreeze(frozen, nowMs)?.until] as const)
  return new Map(ends.flatMap(([id, until]) => (until === undefined ? [] : [[id, until * 1000]])))
}

export function refuseFrozen(frozen: Frozen, errorKey: ErrorKey = 'deploy'): FleetError {
  return new FleetError(
    'conflict',
    errorKey,
    `${describeFreeze(frozen)}; an administrator can override it with ?force=true`,
  )
}

export function describeFreeze({ until, reason }: Frozen): string {
  return `the organization is frozen until ${new Date(until * 1000).toISOString()}: ${reason}`
}

/** True for administrators of the organization and for the system administrator. */
export function isAdministratorOf(actor: Actor, organizationId: number | null): boolean {
  if (actor.role === 'system') return true
  return actor.role === 'administrator' && actor.organizationId === organizationId
}

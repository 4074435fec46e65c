/** Rollouts: each decision is on disk before it is carried out. At most one rollout per group runs at a time. */
import { sql } from 'kysely'
import {
  rollout,
  rolloutStates,
  type AgentInWaveState,
  type GateName,
  type GateVerdict,
  type RolloutPolicy,
} from '../../resources/rollout.js'
import { selectOwned, type OwnedRow } from '../store/owned-rows.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { inPieces } from '../store/in-pieces.js'
import { parseSources, type Release } from './vcl-group.js'

export interface AgentOfWave {
  readonly id: number
  readonly name: string
  readonly state: AgentInWaveState
  readonly error: string | null
}

export interface WaveRecord {
  readonly agents: readonly AgentOfWave[]
  /** After its bake the rollout pauses until a user advances it. */
  readonly holds: boolean
  readonly startedAt: number | null
  readonly switchedAt: number | null
  readonly endedAt: number | null
  readonly verdict: GateVerdict | null
  /** Time of the last pause. */
  readonly pausedAt?: number
  /** When an administrator last resumed it despite a freeze. */
  readonly forcedAt?: number
}

export interface GateRecord {
  readonly name: GateName
  readonly agent: { readonly id: number; readonly name: string } | null
  readonly baseline: number | null
  readonly control: number | null
  readonly observed: number | null
  readonly limit: number | null
  readonly verdict: GateVerdict
  readonly reason: string | null
  readonly at: number
}

export type RolloutRecord = StoredRecord<typeof rollout.fields> & {
  readonly groupId: number
  /** The group's name when the rollout started. */
  readonly groupName: string
  readonly organizationId: number | null
  readonly waves: readonly WaveRecord[]
  readonly gates: readonly GateRecord[]
  readonly policy: RolloutPolicy
  /** The release that it rolls out, and the one that caches roll back to. */
  readonly sources: Release
  readonly fromSources: Release
  readonly action: string
  /** A user rolled it back. */
  readonly isAborted: boolean
  /** Observed time of the current bake. */
  readonly bakedSeconds: number
  readonly traceId: string
  /** Counts writes: a decision based on an older epoch writes nothing. */
  readonly epoch: number
}

type NewRollout = Omit<RolloutRecord, 'id' | 'organization' | 'epoch' | 'endedAt' | 'reason'>

export const rolloutColumns = {
  ...listColumns(rollout.fields, 'rollouts'),
  'vclGroup.id': { column: 'rollouts.groupId', type: 'number' },
  'vclGroup.name': { column: 'rollouts.groupName', type: 'text' },
} as const

export function selectRollouts(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'rollouts', within(scope, 'rollouts'))
}

export async function findRollout(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<RolloutRecord | undefined> {
  const row = await selectRollouts(queries, scope).where('rollouts.id', '=', id).executeTakeFirst()
  return row && toRollout(row)
}

export async function readRollouts(
  queries: Queries,
  ids: readonly number[],
): Promise<RolloutRecord[]> {
  const rows = await inPieces(ids, (piece) =>
    selectRollouts(queries, { kind: 'all' }).where('rollouts.id', 'in', piece).execute(),
  )
  return rows.map(toRollout)
}

const { Loading, Succeeded } = rolloutStates

/** Rollouts whose switch was decided and that have not ended. */
export async function readRunningRollouts(queries: Queries): Promise<RolloutRecord[]> {
  const rows = await selectRollouts(queries, { kind: 'all' })
    .where('rollouts.state', '>', Loading)
    .where('rollouts.state', '<', Succeeded)
    .orderBy('rollouts.id')
    .execute()
  return rows.map(toRollout)
}

/** The group's rollout that has not ended; a loading one still belongs to its deploy. */
export async function findRunningRollout(
  queries: Queries,
  groupId: number,
): Promise<RolloutRecord | undefined> {
  const row = await selectRollouts(queries, { kind: 'all' })
    .where('rollouts.groupId', '=', groupId)
    .where('rollouts.state', '>', Loading)
    .where('rollouts.state', '<', Succeeded)
    .executeTakeFirst()
  return row && toRollout(row)
}

export async function insertRollout(queries: Queries, made: NewRollout): Promise<number> {
  const { id } = await queries
    .insertInto('rollouts')
    .values({
      groupId: made.groupId,
      groupName: made.groupName,
      organizationId: made.organizationId,
      revision: made.revision,
      fromRevision: made.fromRevision,
      action: made.action,
      account: made.account,
      traceId: made.traceId,
      startedAt: made.startedAt,
      ...toColumns({ ...made, endedAt: null, reason: null }),
      policy: JSON.stringify(made.policy),
      sources: JSON.stringify(made.sources),
      fromSources: JSON.stringify(made.fromSources),
      epoch: 1,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

type Course = Pick<
  RolloutRecord,
  'state' | 'wave' | 'waves' | 'gates' | 'isAborted' | 'bakedSeconds' | 'endedAt' | 'reason'
>

/** Returns false if it was written since it was read. */
export async function writeRollout(
  queries: Queries,
  { id, epoch, ...course }: Course & Pick<RolloutRecord, 'id' | 'epoch'>,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('rollouts')
    .set({ ...toColumns(course), epoch: epoch + 1 })
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Writes the progress of a bake and its gates; does not overwrite a concurrent decision. */
export async function writeBake(
  queries: Queries,
  {
    id,
    epoch,
    gates,
    bakedSeconds,
  }: Pick<RolloutRecord, 'id' | 'epoch' | 'gates' | 'bakedSeconds'>,
): Promise<void> {
  await queries
    .updateTable('rollouts')
    .set({ gates: JSON.stringify(gates), bakedMs: Math.round(bakedSeconds * 1000) })
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .execute()
}

/** Deletes at most `limit` rollouts that ended before this time, and returns their number. */
export async function deleteRolloutsBefore(
  queries: Queries,
  endedAt: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('rollouts')
    .where('id', 'in', (e) =>
      e
        .selectFrom('rollouts')
        .select('id')
        .where('endedAt', '<', endedAt)
        .orderBy('endedAt')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Called on success: also gives its revision to placements that started to serve it on their own meanwhile. */
export async function writeRevisionOfPlaces(
  queries: Queries,
  groupId: number,
  { sha, revision }: { readonly sha: string; readonly revision: number },
): Promise<void> {
  await queries
    .updateTable('placements')
    .set({
      wantedRevision: revision,
      appliedRevision: sql<
        number | null
      >`case when "appliedRevision" is null then null else cast(${revision} as bigint) end`,
    })
    .where('groupId', '=', groupId)
    .where('stage', '=', 0)
    .where('currentSha', '=', sha)
    .where('state', '=', 'applied')
    .execute()
}

function toColumns(course: Course) {
  const { state, wave, waves, gates, isAborted, bakedSeconds, endedAt, reason } = course
  return {
    state,
    wave,
    waves: JSON.stringify(waves),
    gates: JSON.stringify(gates),
    aborted: isAborted ? (1 as const) : (0 as const),
    bakedMs: Math.round(bakedSeconds * 1000),
    endedAt,
    reason,
  }
}

const readStored = rowReader(rollout.fields)

export type RolloutRow = OwnedRow<'rollouts'>

export function toRollout(row: RolloutRow): RolloutRecord {
  // JSON is written above.
  return {
    ...readStored(row),
    groupId: row.groupId,
    groupName: row.groupName,
    organizationId: row.organizationId,
    waves: JSON.parse(row.waves) as WaveRecord[],
    gates: JSON.parse(row.gates) as GateRecord[],
    policy: JSON.parse(row.policy) as RolloutPolicy,
    sources: parseSources(row.sources),
    fromSources: parseSources(row.fromSources),
    action: row.action,
    isAborted: row.aborted === 1,
    bakedSeconds: row.bakedMs / 1000,
    traceId: row.traceId,
    epoch: row.epoch,
  }
}

/** Agents whose wave has not started: their candidate waits. */
export function findHeld({ waves, wave }: Pick<RolloutRecord, 'waves' | 'wave'>): Set<number> {
  return new Set(waves.slice(wave).flatMap(({ agents }) => agents.map(({ id }) => id)))
}

/** Whether it changes deployments, domain names or cache releases: no agent joins or leaves while it runs. */
export function movesTarget({
  sources,
  fromSources,
}: Pick<RolloutRecord, 'sources' | 'fromSources'>): boolean {
  const targetOf = ({ deploymentIds, domains, releases }: typeof sources): string =>
    JSON.stringify([deploymentIds, domains.map(({ fqdn }) => fqdn), releases])
  return targetOf(sources) !== targetOf(fromSources)
}

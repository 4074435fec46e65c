/** The rows of what agents report, written for many agents in one statement. */
import { sql } from 'kysely'
import { listGiven, type GivenType } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'
import type { HealthChanges, HealthRows, ServedRow, SickRow } from './health-changes.js'

export async function readHealthRows(
  queries: Queries,
  agentIds: readonly number[],
): Promise<HealthRows> {
  const served = await inPieces(agentIds, (piece) =>
    queries.selectFrom('servedVcls').selectAll().where('agentId', 'in', piece).execute(),
  )
  const sick = await inPieces(agentIds, (piece) =>
    queries.selectFrom('sickBackends').selectAll().where('agentId', 'in', piece).execute(),
  )
  return { served, sick }
}

/** What agents that are gone reported is left out. */
export async function writeHealthChanges(
  queries: Queries,
  { written, removed }: HealthChanges,
): Promise<void> {
  await inPieces(removed.sick, (piece) => deleteSick(queries, piece))
  await inPieces(removed.served, (piece) => deleteServed(queries, piece))
  await inPieces(written.served, (piece) => writeServed(queries, piece))
  await inPieces(written.sick, (piece) => insertSick(queries, piece))
}

const vclTypes: readonly GivenType[] = ['bigint', 'text']
const sickTypes: readonly GivenType[] = [...vclTypes, 'text', 'bigint']
const servedTypes: readonly GivenType[] = [...vclTypes, 'text', 'bigint', 'bigint']

async function deleteSick(queries: Queries, rows: readonly SickRow[]): Promise<[]> {
  const given = rows.map(({ agentId, vcl, backend }) => [agentId, vcl, backend])
  await sql`
    with given("agentId", vcl, backend) as (${listGiven([...vclTypes, 'text'], given)})
    delete from "sickBackends" where ("agentId", vcl, backend) in (select "agentId", vcl, backend from given)`.execute(
    queries,
  )
  return []
}

async function deleteServed(queries: Queries, rows: readonly ServedRow[]): Promise<[]> {
  const given = rows.map(({ agentId, vcl }) => [agentId, vcl])
  await sql`
    with given("agentId", vcl) as (${listGiven(vclTypes, given)})
    delete from "servedVcls" where ("agentId", vcl) in (select "agentId", vcl from given)`.execute(
    queries,
  )
  return []
}

async function writeServed(queries: Queries, rows: readonly ServedRow[]): Promise<[]> {
  const given = rows.map((row) => [
    ...[row.agentId, row.vcl, row.backends],
    ...[row.omittedHealthy, row.omittedSick],
  ])
  await sql`
    with given("agentId", vcl, backends, healthy, sick) as (${listGiven(servedTypes, given)})
    insert into "servedVcls" ("agentId", vcl, backends, "omittedHealthy", "omittedSick")
      select given."agentId", given.vcl, given.backends, given.healthy, given.sick
      from given inner join agents on agents.id = given."agentId" where true
    on conflict ("agentId", vcl) do update set backends = excluded.backends,
      "omittedHealthy" = excluded."omittedHealthy", "omittedSick" = excluded."omittedSick"`.execute(
    queries,
  )
  return []
}

async function insertSick(queries: Queries, rows: readonly SickRow[]): Promise<[]> {
  const given = rows.map(({ agentId, vcl, backend, since }) => [agentId, vcl, backend, since])
  await sql`
    with given("agentId", vcl, backend, since) as (${listGiven(sickTypes, given)})
    insert into "sickBackends" ("agentId", vcl, backend, since)
      select given."agentId", given.vcl, given.backend, given.since
      from given inner join agents on agents.id = given."agentId"`.execute(queries)
  return []
}

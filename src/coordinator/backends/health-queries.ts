/** The rows of backend reports, written for many agents in one statement. */
import { sql } from 'kysely'
import { listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'
import type { HealthChanges, HealthRows } from './health-changes.js'

export async function readHealthRows(
  queries: Queries,
  agentIds: readonly number[],
): Promise<HealthRows> {
  const ids = [writeIds(agentIds)]
  return { served: await selectServed(queries, ids), sick: await selectSick(queries, ids) }
}

const selectServed = prepareQuery((queries) =>
  queries.selectFrom('servedVcls').selectAll().where('agentId', 'in', listIds([])),
)

const selectSick = prepareQuery((queries) =>
  queries.selectFrom('sickBackends').selectAll().where('agentId', 'in', listIds([])),
)

/** Skips reports of deleted agents. */
export async function writeHealthChanges(
  queries: Queries,
  { written, removed }: HealthChanges,
): Promise<void> {
  await deleteSick(queries, removed.sick)
  await deleteServed(queries, removed.served)
  await writeServed(queries, written.served)
  await insertSick(queries, written.sick)
}

const deleteSick = prepareGiven(
  { agentId: 'bigint', vcl: 'text', backend: 'text' },
  ({ agentId, vcl, backend, from }) => sql`
    delete from "sickBackends"
    where ("agentId", vcl, backend) in (select ${agentId}, ${vcl}, ${backend} ${from})`,
)

const deleteServed = prepareGiven(
  { agentId: 'bigint', vcl: 'text' },
  ({ agentId, vcl, from }) => sql`
    delete from "servedVcls" where ("agentId", vcl) in (select ${agentId}, ${vcl} ${from})`,
)

const writeServed = prepareGiven(
  {
    agentId: 'bigint',
    vcl: 'text',
    backends: 'text',
    omittedHealthy: 'bigint',
    omittedSick: 'bigint',
  },
  (given) => sql`
    insert into "servedVcls" ("agentId", vcl, backends, "omittedHealthy", "omittedSick")
      select ${given.agentId}, ${given.vcl}, ${given.backends}, ${given.omittedHealthy}, ${given.omittedSick}
      ${given.from} where exists (select 1 from agents where agents.id = ${given.agentId})
    on conflict ("agentId", vcl) do update set backends = excluded.backends,
      "omittedHealthy" = excluded."omittedHealthy", "omittedSick" = excluded."omittedSick"`,
)

const insertSick = prepareGiven(
  { agentId: 'bigint', vcl: 'text', backend: 'text', since: 'bigint' },
  ({ agentId, vcl, backend, since, from }) => sql`
    insert into "sickBackends" ("agentId", vcl, backend, since)
      select ${agentId}, ${vcl}, ${backend}, ${since} ${from}
      where exists (select 1 from agents where agents.id = ${agentId})`,
)

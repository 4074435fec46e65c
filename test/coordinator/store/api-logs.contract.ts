/** How both databases find a trace in the api log: by an index, in every scope, without entries of others. */
import { CompiledQuery } from 'kysely'
import type { Test } from 'tap'
import { parseListQuery } from '../../../src/resources/list-query.js'
import {
  apiLogColumns,
  insertApiLogs,
  selectApiLogs,
} from '../../../src/coordinator/api-log/api-log-queries.js'
import { listApiLogs } from '../../support/api-logs.js'
import { filterCondition } from '../../../src/coordinator/store/list-query.js'
import type { Scope } from '../../../src/coordinator/store/scope.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import type { StoreFactory } from './store.contract.js'

interface ExplainingFactory extends StoreFactory {
  /** The prefix that makes the database explain a query. */
  readonly explain: string
  /** Runs the ANALYZE that the database runs by itself; undefined where it never does. */
  readonly analyze?: (queries: Queries) => Promise<unknown>
}

const owners = [null, 1, 2]
const traces = 500
const scopes: readonly Scope[] = [{ kind: 'all' }, { kind: 'organization', organizationId: 2 }]

export function apiLogsContract(t: Test, factory: ExplainingFactory): void {
  void t.test('a trace is found by an index, in the whole log and in one scope', async (t) => {
    const { queries } = await factory.open(t)
    await fillLog(queries)
    await factory.analyze?.(queries)
    const list = parseListQuery(
      { traceId: 'trace-0042', sort: 'id:desc', take: '1000' },
      apiLogColumns,
      'apilog',
    )

    for (const scope of scopes) {
      const { rows, total } = await listApiLogs(queries, scope, list)
      const wanted = scope.kind === 'all' ? owners.length : 1
      t.equal(total, wanted)
      t.ok(rows.every(({ traceId }) => traceId === 'trace-0042'))
      if (scope.kind === 'organization')
        t.ok(rows.every(({ organizationId }) => organizationId === scope.organizationId))
      const { sql, parameters } = selectApiLogs(queries, scope)
        .where(filterCondition(list.filters, apiLogColumns))
        .orderBy('apiLogs.id', 'desc')
        .limit(1000)
        .compile()
      const plan = CompiledQuery.raw(`${factory.explain} ${sql}`, [...parameters])
      t.match(JSON.stringify((await queries.executeQuery(plan)).rows), /apiLogs_trace/)
    }
  })
}

/** Each trace has one call of each owner. */
async function fillLog(queries: Queries): Promise<void> {
  for (let trace = 0; trace < traces; trace++)
    await insertApiLogs(
      queries,
      owners.map((organizationId) => ({
        organizationId,
        createdAt: trace,
        severity: 1,
        msg: 'Creates a tag',
        status: 201,
        keyType: 'tag',
        keyId: null,
        account: 'root',
        method: 'POST',
        path: '/api/v1/tags',
        traceId: `trace-${String(trace).padStart(4, '0')}`,
      })),
    )
}

/**
 * No query per row: every list and object takes as many queries with 30 of everything as with one. On SQLite only: both
 * databases use the same queries.
 */
import { pino } from 'pino'
import t from 'tap'
import { createContext } from '../../../src/context.js'
import type { Actor } from '../../../src/resources/permission.js'
import type { Answer, Route } from '../../../src/coordinator/http/route.js'
import { startClient, type Client } from './client.js'
import { seed } from './seeded.js'

const many = 30
/** A stream, which reads no rows. */
const endless = '/events'
/** A constant table of the program. */
const fixed = '/counters'
/** One query for each type among the newest changes; with many objects they are of fewer types. */
const byType = '/overview'

const actor: Actor = {
  accountId: 1,
  accountName: 'root',
  sessionId: 1,
  organizationId: null,
  role: 'system',
  grants: {},
}

void t.test('reads take the same number of queries with one row and with 30', async (t) => {
  const [small, large] = [await startClient(t), await startClient(t)]
  await seed(small, 1)
  await seed(large, many)
  const few = await countQueries(small)
  const lots = await countQueries(large)
  t.ok(few.size > 30, 'all lists and objects are read')
  for (const [path, { queries, rows }] of few) {
    const other = lots.get(path)
    if (path === byType) t.ok(other && other.queries <= queries, `${path}: ${queries} at most`)
    else t.equal(other?.queries, queries, `${path}: ${queries} queries`)
    if (rows !== null && path !== fixed) t.ok((other?.rows ?? 0) > rows, `${path} has more rows`)
  }
})

interface Reading {
  readonly queries: number
  /** Rows of a list; null: an object, or a call to an agent without a link. */
  readonly rows: number | null
}

async function countQueries({ service, routes }: Client): Promise<Map<string, Reading>> {
  let counted = 0
  const { store } = service
  const queries = store.queries.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      counted += 1
      return Promise.resolve(result)
    },
  })
  // Disables caching, so that every query is counted.
  Object.assign(store, { queries, recall: (_: unknown, read: () => Promise<unknown>) => read() })
  const readings = new Map<string, Reading>()
  for (const route of routes)
    if (route.method === 'GET' && route.permission !== 'public' && route.path !== endless) {
      counted = 0
      const rows = await readRows(route)
      readings.set(route.path, { queries: counted, rows })
    }
  return readings
}

async function readRows(route: Route): Promise<number | null> {
  const context = createContext(pino({ level: 'silent' }))
  const object = await route.find?.(context, actor, 1)
  const about = { context, actor, object, params: { n: '1' }, query: { from: 1, to: 1 } }
  const caller = {
    guarded: undefined,
    body: undefined,
    headers: {},
    sourceAddress: '127.0.0.1',
    secure: false,
    note: () => undefined,
  }
  const query = route.path.endsWith('/diff') ? about.query : {}
  const { body } = await route
    .handle({ ...about, ...caller, query })
    .catch((): Answer => ({ status: 503 })) // no agent has a link here
  if (!Array.isArray(body) && !isAsync(body)) return null
  const rows: unknown[] = []
  for await (const row of body) rows.push(row)
  return rows.length
}

function isAsync(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** `/agents/{id}/stats`, `/vclgroups/{id}/stats`, the graphs of both, and `/counters`: series from the archive (choices: 7). */
import { Type, type Static } from 'typebox'
import { requireConsolidation, requireRange } from '../../domain/archive/time-range.js'
import { defaultCounters } from '../../domain/counters.js'
import type { Actor } from '../../domain/permission.js'
import type { ErrorKey } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import { findAgent, type AgentRecord } from '../state-service/agents/agents.js'
import { findGroup } from '../state-service/deploying/vcl-groups.js'
import type { StateService } from '../state-service/service.js'
import {
  askCache,
  askGroupCaches,
  type AskedCache,
} from '../state-service/statistics/asked-caches.js'
import {
  readCounterSeries,
  readGraph,
  readNewestValues,
  readUsualSeries,
  type SeriesRequest,
} from '../state-service/statistics/counter-series.js'
import { orNull } from './references.js'

const read = { type: 'stats', access: 'read' } as const
const closed = { additionalProperties: false }

const seconds = Type.Integer({ description: 'End of a row, seconds since 1970' })
const seriesSchema = Type.Object(
  {
    counter: Type.String({ description: 'As it was asked for' }),
    values: Type.Array(Type.Object({ time: seconds, value: Type.Number() }, closed)),
  },
  closed,
)
const countersQuery = Type.Object({
  counters: Type.Optional(
    Type.String({ description: 'Names separated by commas; without it the usual ones' }),
  ),
})
const graphSchema = Type.Record(
  Type.String({ description: "The graph's name" }),
  Type.Array(Type.Record(Type.String(), Type.Number())),
)
const newestSchema = Type.Object(
  {
    time: orNull(seconds),
    agents: Type.Integer({ description: 'Caches that were heard lately' }),
    stats: Type.Array(Type.Object({ counter: Type.String(), value: Type.Number() }, closed)),
  },
  closed,
)
const counterSchema = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum(['counter', 'gauge']),
    description: Type.String(),
  },
  closed,
)

/** What has statistics: how it is found, and which caches are its. */
interface Subject<Found> {
  readonly path: string
  /** Before `Stats` and `Graph` in operation ids. */
  readonly noun: string
  readonly errorKey: ErrorKey
  readonly what: string
  readonly find: (actor: Actor, id: number) => Promise<Found | undefined>
  readonly ask: (actor: Actor, found: Found) => Promise<readonly AskedCache[]>
}

export function statisticsRoutes(service: StateService): readonly Route[] {
  const ofAgents: Subject<AgentRecord> = {
    ...{ path: '/agents/{id}', noun: 'Agent', errorKey: 'agent', what: 'of a cache' },
    find: (actor, id) => findAgent(service, actor, id),
    ask: (actor, agent) => Promise.resolve([askCache(actor, agent)]),
  }
  const ofGroups: Subject<{ readonly id: number }> = {
    ...{ path: '/vclgroups/{id}', noun: 'VclGroup', errorKey: 'vclgroup' },
    what: 'summed over the caches of a group',
    find: (actor, id) => findGroup(service, actor, id),
    ask: (actor, { id }) => askGroupCaches(service, actor, id),
  }
  return [
    ...seriesRoutes(service, ofAgents),
    ...seriesRoutes(service, ofGroups),
    route({
      method: 'GET',
      path: '/vclgroups/{id}/stats',
      operationId: 'getVclGroupNewestStats',
      summary:
        'The newest values, summed over the caches of a group: events per second, and levels',
      errorKey: 'vclgroup',
      permission: read,
      find: (_, actor, id) => ofGroups.find(actor, id),
      answers: { 200: newestSchema },
      handle: async ({ actor, object }) => ({
        status: 200,
        body: await readNewestValues(service, await ofGroups.ask(actor, object)),
      }),
    }),
    route({
      method: 'GET',
      path: '/counters',
      operationId: 'listCounters',
      summary: 'The counters that are sampled of every cache that has them',
      errorKey: 'agent',
      permission: read,
      answers: { 200: Type.Array(counterSchema) },
      handle: () => Promise.resolve({ status: 200, body: defaultCounters }),
    }),
  ]
}

function seriesRoutes<Found>(service: StateService, subject: Subject<Found>): readonly Route[] {
  const { path, noun, errorKey, what } = subject
  const find = (_: unknown, actor: Actor, id: number) => subject.find(actor, id)
  const toRequest = async (
    actor: Actor,
    object: Found,
    { consolfunc = '', start = '', end = '' }: Readonly<Record<string, string>>,
  ): Promise<SeriesRequest> => ({
    consolidation: requireConsolidation(consolfunc, errorKey),
    range: requireRange({ start, end }, errorKey),
    caches: await subject.ask(actor, object),
    errorKey,
  })
  return [
    route({
      method: 'GET',
      path: `${path}/stats/{counter}/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Counter`,
      summary: `One counter ${what}, by AVERAGE, MIN, MAX, LAST or TOTAL, from the finest archive that has all of the range`,
      errorKey,
      permission: read,
      find,
      answers: { 200: seriesSchema },
      handle: async ({ actor, object, params }) => {
        const request = await toRequest(actor, object, params)
        const [series] = await readCounterSeries(service, request, [params['counter'] ?? ''])
        return { status: 200, body: series }
      },
    }),
    route({
      method: 'GET',
      path: `${path}/stats/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Stats`,
      summary: `Several counters ${what}`,
      errorKey,
      permission: read,
      find,
      query: countersQuery,
      answers: { 200: Type.Object({ stats: Type.Array(seriesSchema) }, closed) },
      handle: async ({ actor, object, params, query }) => {
        const request = await toRequest(actor, object, params)
        return { status: 200, body: { stats: await readSeveral(service, request, query) } }
      },
    }),
    route({
      method: 'GET',
      path: `${path}/graph/{name}/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Graph`,
      summary: `A named graph ${what}: avghitratio, traffic, backend, threads or storage`,
      errorKey,
      permission: read,
      find,
      answers: { 200: graphSchema },
      handle: async ({ actor, object, params }) => {
        const { name = '' } = params
        const rows = await readGraph(service, await toRequest(actor, object, params), name)
        return { status: 200, body: { [name]: rows } }
      },
    }),
  ]
}

function readSeveral(
  service: StateService,
  request: SeriesRequest,
  { counters }: Static<typeof countersQuery>,
) {
  if (counters === undefined) return readUsualSeries(service, request)
  const names = counters.split(',').map((name) => name.trim())
  return readCounterSeries(service, request, names)
}

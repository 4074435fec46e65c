/**
 * The routes for series (docs/behaviour.md, Statistics): one counter, several counters, a named graph. Both APIs serve them, for
 * one cache or summed over a group; the subject defines the object and how its series are read.
 */
import { Type, type Static } from 'typebox'
import type { Consolidation } from './archive/consolidation.js'
import { graphNames } from './archive/graphs.js'
import { requireConsolidation, requireRange, type TimeRange } from './archive/time-range.js'
import type { Actor } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import { route, type Route } from '../http/route.js'

const closed = { additionalProperties: false }

/** `time` in all responses. */
export const secondsSchema = Type.Integer({ description: 'End of a row, seconds since 1970' })
export const seriesSchema = Type.Object(
  {
    counter: Type.String({ description: 'As it was asked for' }),
    values: Type.Array(Type.Object({ time: secondsSchema, value: Type.Number() }, closed)),
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

interface SeriesQuestion {
  readonly consolidation: Consolidation
  readonly range: TimeRange
  readonly errorKey: ErrorKey
}

/** Reads the series of a subject's caches. */
interface SeriesSource {
  readCounters(names: readonly string[]): Promise<readonly object[]>
  readUsual(): Promise<readonly object[]>
  readGraph(name: string): Promise<readonly object[]>
}

/** A kind of object that has statistics. */
export interface SeriesSubject<Found> extends Pick<Route, 'errorKey' | 'permission'> {
  readonly path: string
  /** Used in operation ids. */
  readonly noun: string
  /** Used in summaries, after "One counter". */
  readonly what: string
  readonly readId?: (text: string) => number | undefined
  readonly find: (actor: Actor, id: number) => Promise<Found | undefined>
  readonly open: (actor: Actor, found: Found, question: SeriesQuestion) => Promise<SeriesSource>
  /** The names of its graphs; default: the graphs of counters. */
  readonly graphs?: readonly string[]
}

export function seriesRoutes<Found>(subject: SeriesSubject<Found>): readonly Route[] {
  const { path, noun, errorKey, permission, readId, what, graphs = graphNames } = subject
  const common = {
    method: 'GET' as const,
    errorKey,
    permission,
    ...(readId ? { readId } : {}),
    find: (_: unknown, actor: Actor, id: number) => subject.find(actor, id),
  }
  const open = (
    actor: Actor,
    object: Found,
    { consolfunc = '', start = '', end = '' }: Readonly<Record<string, string>>,
  ): Promise<SeriesSource> =>
    subject.open(actor, object, {
      consolidation: requireConsolidation(consolfunc, errorKey),
      range: requireRange({ start, end }, errorKey),
      errorKey,
    })
  return [
    route({
      ...common,
      path: `${path}/stats/{counter}/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Counter`,
      summary: `One counter ${what}, by AVERAGE, MIN, MAX, LAST or TOTAL, from the finest archive that has all of the range`,
      answers: { 200: seriesSchema },
      handle: async ({ actor, object, params }) => {
        const source = await open(actor, object, params)
        const [series] = await source.readCounters([params['counter'] ?? ''])
        return { status: 200, body: series }
      },
    }),
    route({
      ...common,
      path: `${path}/stats/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Stats`,
      summary: `Several counters ${what}`,
      query: countersQuery,
      answers: { 200: Type.Object({ stats: Type.Array(seriesSchema) }, closed) },
      handle: async ({ actor, object, params, query }) => {
        const stats = await readSeveral(await open(actor, object, params), query)
        return { status: 200, body: { stats } }
      },
    }),
    route({
      ...common,
      path: `${path}/graph/{name}/{consolfunc}/{start}/{end}`,
      operationId: `get${noun}Graph`,
      summary: `A named graph ${what}: ${graphs.join(', ')}`,
      answers: { 200: graphSchema },
      handle: async ({ actor, object, params }) => {
        const { name = '' } = params
        const rows = await (await open(actor, object, params)).readGraph(name)
        return { status: 200, body: { [name]: rows } }
      },
    }),
  ]
}

function readSeveral(source: SeriesSource, { counters }: Static<typeof countersQuery>) {
  if (counters === undefined) return source.readUsual()
  return source.readCounters(readNames(counters))
}

/** Separated by commas. */
export function readNames(counters: string): readonly string[] {
  return counters.split(',').map((name) => name.trim())
}

/**
 * The traffic figures of all caches that a caller may see, now and in the last hour, and the caches and groups with the worst
 * figures. Thousands of caches are read for them, so they are remembered: callers get the known figures while new ones are read.
 */
import {
  maxListedWorst,
  type Figures,
  type Overview,
  type WorstObject,
} from '../../resources/overview.js'
import { may, type Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { toIso } from '../api/times.js'
import { createRefreshedMemory } from '../../runtime/refreshed-memory.js'
import { scopeOf, type StateService } from '../service.js'
import { selectGroupIds } from '../fleet/group-queries.js'
import { askVisibleCaches, type AskedCache } from '../statistics/asked-caches.js'
import type { NewestEachAnswer } from '../statistics/store/statistics-archive.js'
import type { Scope } from '../store/scope.js'
import { readServingPlaces } from './group-places.js'
import { hourMs, readHourSeries, type HourSeries, type Step } from './hour-course.js'
import { namedTables, readNames } from './object-names.js'
import {
  addRates,
  emptyRates,
  figureCounters,
  findWorst,
  toFigures,
  type FigureRates,
} from './judge-figures.js'

interface FiguresOfNow {
  readonly now: Figures
  readonly worstAgents: readonly WorstObject[]
  readonly worstGroups: readonly WorstObject[]
}

interface FiguresOfHour {
  readonly hourBefore: Figures
  readonly lastHour: NonNullable<Overview['lastHour']>
}

/** Figures that are not known yet, or that an unavailable archive cannot return, are null or empty. */
export interface FleetFigures {
  readNow(actor: Actor): Promise<FiguresOfNow>
  readHour(actor: Actor): Promise<FiguresOfHour>
}

/** The maximum number of organizations whose figures are remembered. */
const most = 200
const nowMemory = { most, freshMs: 5_000, usableMs: 30_000, waitMostMs: 1_000 }
/** A remembered course lacks the newest steps, but the others are still correct. */
const hourMemory = { most, freshMs: 30_000, usableMs: hourMs, waitMostMs: 150 }

export function createFleetFigures(service: StateService): FleetFigures {
  const { now } = service
  const ofNow = createRefreshedMemory<FiguresOfNow>({ ...nowMemory, now })
  const ofHour = createRefreshedMemory<HourSeries>({ ...hourMemory, now })
  return {
    readNow: async (actor) => {
      const known = await orUnknown(ofNow.read(keyOf(actor), () => findNow(service, actor)))
      return known ?? { now: toFigures(emptyRates()), worstAgents: [], worstGroups: [] }
    },
    readHour: async (actor) => {
      const course = await orUnknown(
        ofHour.read(keyOf(actor), (known) => findCourse(service, actor, known)),
      )
      return toFiguresOfHour(course?.steps ?? [], now())
    },
  }
}

/** While the archive is unavailable, the rest of the overview can still be returned. */
async function orUnknown<Value>(reading: Promise<Value | undefined>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof FleetError && error.kind === 'unavailable') return undefined
    throw error
  }
}

/** The figures depend on the caller's organization and on whether the caller may read groups, not on its other permissions. */
function keyOf(actor: Actor): string {
  const { organizationId } = actor
  return `${organizationId ?? 'all'} ${may(actor, 'vclgroup', 'read')}`
}

/** The counters of a cache do not include statuses: errors are summed from the groups that the caller may read. */
async function askCaches(service: StateService, actor: Actor): Promise<readonly AskedCache[]> {
  const caches = await askVisibleCaches(service, actor)
  if (!may(actor, 'vclgroup', 'read')) return caches
  const rows = await selectGroupIds(service.store.queries, scopeOf(actor)).execute()
  const groups = new Set(rows.map(({ id }) => id))
  return caches.map((cache) => ({ ...cache, groups }))
}

async function findNow(service: StateService, actor: Actor): Promise<FiguresOfNow> {
  const caches = await askCaches(service, actor)
  const newest = await service.statistics.readNewestEach({
    caches,
    names: figureCounters,
    nowMs: service.now(),
  })
  const rates = readRates(newest)
  const sum = emptyRates()
  for (const [, ofCache] of rates) addRates(sum, ofCache)
  return {
    now: toFigures(sum),
    worstAgents: await nameWorst(service, actor, { type: 'agent', rates }),
    worstGroups: await nameWorst(service, actor, {
      type: 'vclgroup',
      rates: await sumByGroup(service, scopeOf(actor), new Map(rates)),
    }),
  }
}

type RatesById = readonly (readonly [id: number, rates: FigureRates])[]

function readRates({ agentIds, values }: NewestEachAnswer): RatesById {
  const width = figureCounters.length
  return Array.from(agentIds, (id, at) => [id, values.subarray(at * width, (at + 1) * width)])
}

/** Sums each group's caches; the traffic of other groups on them counts too, because the counters do not separate groups. */
async function sumByGroup(
  { store }: StateService,
  scope: Scope,
  ofCache: ReadonlyMap<number, FigureRates>,
): Promise<RatesById> {
  const sums = new Map<number, Float64Array>()
  for (const { groupId, agentId } of await readServingPlaces(store.queries, scope)) {
    const sum = sums.get(groupId) ?? emptyRates()
    sums.set(groupId, sum)
    addRates(sum, ofCache.get(agentId) ?? [])
  }
  return [...sums]
}

async function nameWorst(
  { store }: StateService,
  actor: Actor,
  { type, rates }: { readonly type: 'agent' | 'vclgroup'; readonly rates: RatesById },
): Promise<WorstObject[]> {
  const rows = rates.map(([id, ofOne]) => ({ id, rates: ofOne }))
  const worst = findWorst(rows, maxListedWorst)
  if (worst.length === 0) return []
  const ids = worst.map(({ id }) => id)
  const names = await readNames(store.queries, scopeOf(actor), namedTables[type], ids)
  return worst.flatMap(({ id, figures }) => {
    const name = names.get(id)
    return name === undefined ? [] : [{ id, name, ...figures }]
  })
}

async function findCourse(
  service: StateService,
  actor: Actor,
  known: HourSeries | undefined,
): Promise<HourSeries> {
  const caches = await askCaches(service, actor)
  return readHourSeries(service.statistics, { caches, nowMs: service.now(), known })
}

/** `hourBefore` is the last step that had ended an hour ago. */
function toFiguresOfHour(steps: readonly Step[], nowMs: number): FiguresOfHour {
  const hourAgo = nowMs - hourMs
  const before = steps.findLast(({ endsAt }) => endsAt <= hourAgo)
  return {
    hourBefore: toFigures(before?.rates ?? emptyRates()),
    lastHour: steps
      .filter(({ endsAt }) => endsAt > hourAgo)
      .map(({ endsAt, rates }) => ({ time: toIso(endsAt), ...toFigures(rates) })),
  }
}

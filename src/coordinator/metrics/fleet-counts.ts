/** The metrics of the whole fleet: counts without names (docs/behaviour.md, Metrics). */
import { problemCodes } from '../../resources/problem.js'
import type { FleetCounts } from '../http/metrics.js'
import { invalidationStates } from '../../resources/invalidation.js'
import { countGroupsByState } from '../placement/group-counts.js'
import { countOpenProblems } from '../problems/open-problems.js'
import { createReadCache } from '../../runtime/bounded-cache.js'
import { waitAtMost } from '../../runtime/pause.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { countAllWaiting } from '../webhooks/delivery-queries.js'

/** Counts are cached for this time, so that several scrapers do not query the store more often. */
const keptMs = 5_000
/** A store or bus that responds later counts as down. */
const checkTimeoutMs = 2_000

export function createFleetCounter(service: StateService): () => Promise<FleetCounts> {
  const { store, bus, now } = service
  const known = createReadCache<Omit<FleetCounts, 'isStoreUp' | 'isBusUp'>>({
    most: 1,
    believedMs: keptMs,
    now,
  })
  return async () => {
    const [isStoreUp, isBusUp] = await Promise.all([
      isThere(() => store.checkWrites()),
      isThere(() => bus.check()),
    ])
    if (!isStoreUp) return { isStoreUp, isBusUp, ...nothing }
    const counts = await known.read('fleet', () => countFleet(store.queries, now()), 1)
    return { isStoreUp, isBusUp, ...counts }
  }
}

const nothing = {
  groups: {},
  problems: {},
  invalidations: {},
  webhooksWaiting: 0,
  certificateExpirySeconds: null,
}

async function isThere(check: () => Promise<void>): Promise<boolean> {
  try {
    await waitAtMost(checkTimeoutMs, check(), () => {
      throw new Error(`no answer within ${checkTimeoutMs} ms`)
    })
    return true
  } catch {
    return false
  }
}

async function countFleet(queries: Queries, nowMs: number) {
  const open = await countOpenProblems(queries)
  const codes = Object.keys(problemCodes).map((code) => [code, open.get(code) ?? 0] as const)
  const notAfter = await readSoonestExpiry(queries)
  return {
    groups: await countGroupsByState(queries, { kind: 'all' }),
    problems: Object.fromEntries(codes),
    invalidations: await countInvalidations(queries),
    webhooksWaiting: await countAllWaiting(queries),
    certificateExpirySeconds: notAfter === null ? null : Math.floor((notAfter - nowMs) / 1000),
  }
}

/** The soonest expiry of the deployed certificates; null: none is deployed. */
async function readSoonestExpiry(queries: Queries): Promise<number | null> {
  const { soonest } = await queries
    .selectFrom('certificates')
    .select((e) => e.fn.min('notAfter').as('soonest'))
    .where('released', 'is not', null)
    .executeTakeFirstOrThrow()
  return soonest
}

async function countInvalidations(queries: Queries): Promise<FleetCounts['invalidations']> {
  const { open, failed } = await queries
    .selectFrom('invalidations')
    .select((e) => [
      e.fn.countAll<number>().filterWhere('outcome', 'is', null).as('open'),
      e.fn.countAll<number>().filterWhere('outcome', '=', invalidationStates.Failed).as('failed'),
    ])
    .executeTakeFirstOrThrow()
  return { open, failed }
}

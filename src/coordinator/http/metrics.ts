/** Metrics of `/metrics`: counts and durations, never names or addresses (docs/behaviour.md, Metrics). */
import { version } from '../../version.js'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export interface Metrics {
  readonly contentType: string
  /** Prometheus text. */
  readonly read: () => Promise<string>
  /** From now on each reading includes the counts of the fleet. */
  readonly setFleetCounter: (count: () => Promise<FleetCounts>) => void
  readonly observeRequest: (request: ObservedRequest) => void
  /** Counts a finished deploy; `result` is `ok` or the kind of its error. */
  readonly observeDeploy: (result: string, durationSeconds: number) => void
  /** Counts an invalidation that all of its agents have completed. */
  readonly observeInvalidation: (durationSeconds: number) => void
  /** Counts an attempt to deliver an event of this type to a webhook. */
  readonly observeDelivery: (type: string, isDelivered: boolean) => void
  /** Counts a commit of the statistics archive. */
  readonly observeStatsWrite: (durationSeconds: number) => void
}

/** No names of users' objects: labels are fixed words. */
export interface FleetCounts {
  readonly isStoreUp: boolean
  readonly isBusUp: boolean
  /** Keyed by the name of the state. */
  readonly groups: Readonly<Record<string, number>>
  /** Keyed by code. */
  readonly problems: Readonly<Record<string, number>>
  /** Running and failed ones. */
  readonly invalidations: Readonly<Record<string, number>>
  /** Queued deliveries of all webhooks. */
  readonly webhooksWaiting: number
  /** Time until the first deployed certificate expires; null if none is deployed. */
  readonly certificateExpirySeconds: number | null
}

interface ObservedRequest {
  readonly api: string
  /** The template of the path, never the path itself. */
  readonly route: string
  readonly status: number
  readonly durationSeconds: number
}

const requestBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]
const statsWriteBucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const invalidationBucketsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600]
const deployBucketsSeconds = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** `countAgents` returns the number of agents by the name of their state; called at each reading. */
export function createMetrics(
  countAgents: () => Promise<Readonly<Record<string, number>>>,
): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const agents = new Gauge({
    name: 'cachefleet_agents',
    help: 'Agents by state',
    labelNames: ['state'],
    registers: [registry],
  })
  const requests = new Histogram({
    name: 'cachefleet_api_request_seconds',
    help: 'Duration of API calls until the answer was sent',
    labelNames: ['api', 'route', 'status'],
    buckets: requestBucketsSeconds,
    registers: [registry],
  })
  const deploys = new Histogram({
    name: 'cachefleet_deploy_seconds',
    help: 'Duration of deploys from the call to their end',
    labelNames: ['result'],
    buckets: deployBucketsSeconds,
    registers: [registry],
  })
  const invalidations = new Histogram({
    name: 'cachefleet_invalidation_done_seconds',
    help: 'Duration of invalidations until all their agents had done them',
    buckets: invalidationBucketsSeconds,
    registers: [registry],
  })
  const deliveries = new Counter({
    name: 'cachefleet_webhook_deliveries_total',
    help: 'Attempts to deliver events to webhooks',
    labelNames: ['type', 'result'],
    registers: [registry],
  })
  const statsWrites = new Histogram({
    name: 'cachefleet_stats_write_seconds',
    help: 'Duration of commits to the archive of statistics',
    buckets: statsWriteBucketsSeconds,
    registers: [registry],
  })
  const fleet = createFleetGauges(registry)
  let countFleet: (() => Promise<FleetCounts>) | null = null
  return {
    contentType: registry.contentType,
    read: async () => {
      const counts = await countFleet?.()
      if (counts) fleet.set(counts)
      // Counts that are unavailable now are not reported with old values.
      if (counts?.isStoreUp === false) agents.reset()
      else
        for (const [state, count] of Object.entries(await countAgents()))
          agents.set({ state }, count)
      return registry.metrics()
    },
    setFleetCounter: (count) => {
      countFleet = count
    },
    observeRequest: ({ api, route, status, durationSeconds }) => {
      requests.observe({ api, route, status }, durationSeconds)
    },
    observeDeploy: (result, durationSeconds) => {
      deploys.observe({ result }, durationSeconds)
    },
    observeInvalidation: (durationSeconds) => {
      invalidations.observe(durationSeconds)
    },
    observeDelivery: (type, isDelivered) => {
      deliveries.inc({ type, result: isDelivered ? 'delivered' : 'failed' })
    },
    observeStatsWrite: (durationSeconds) => {
      statsWrites.observe(durationSeconds)
    },
  }
}

function createFleetGauges(registry: Registry) {
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `cachefleet_${name}`, help, labelNames, registers: [registry] })
  gauge('build_info', 'The version that runs; always 1', 'version').set({ version }, 1)
  const storeUp = gauge('store_up', 'Whether the store can be written')
  const busUp = gauge('bus_up', 'Whether the bus answers')
  const groups = gauge('groups', 'VCL groups by state', 'state')
  const problems = gauge('problems', 'Open problems by code', 'code')
  const invalidations = gauge('invalidations', 'Invalidations that go on, or failed', 'state')
  const waiting = gauge('webhook_deliveries_waiting', 'Deliveries that wait, of all webhooks')
  const expiry = gauge(
    'certificate_expiry_seconds',
    'Until the first of the deployed certificates of caches expires',
  )
  return {
    set: (counts: FleetCounts): void => {
      storeUp.set(Number(counts.isStoreUp))
      busUp.set(Number(counts.isBusUp))
      for (const one of [groups, problems, invalidations]) one.reset()
      for (const [state, count] of Object.entries(counts.groups)) groups.set({ state }, count)
      for (const [code, count] of Object.entries(counts.problems)) problems.set({ code }, count)
      for (const [state, count] of Object.entries(counts.invalidations))
        invalidations.set({ state }, count)
      waiting.set(counts.webhooksWaiting)
      if (counts.certificateExpirySeconds === null) expiry.remove()
      else expiry.set(counts.certificateExpirySeconds)
    },
  }
}

/** What `/metrics` tells: counts and durations, never names or addresses (docs/behaviour.md, Metrics). */
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export interface Metrics {
  readonly contentType: string
  /** Prometheus text. */
  readonly read: () => Promise<string>
  readonly observeRequest: (request: ObservedRequest) => void
  /** A deploy that came to its end; `result` is `ok` or the kind of its error. */
  readonly observeDeploy: (result: string, durationSeconds: number) => void
  /** An invalidation that all its agents have done. */
  readonly observeInvalidation: (durationSeconds: number) => void
  /** A commit of the archive of statistics. */
  readonly observeStatsWrite: (durationSeconds: number) => void
}

interface ObservedRequest {
  readonly api: string
  /** The path's template, never the path. */
  readonly route: string
  readonly status: number
  readonly durationSeconds: number
}

const requestBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]
const statsWriteBucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const invalidationBucketsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600]
const deployBucketsSeconds = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** `countAgents` answers the number of agents by the name of their state; asked at each reading. */
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
  const statsWrites = new Histogram({
    name: 'cachefleet_stats_write_seconds',
    help: 'Duration of commits to the archive of statistics',
    buckets: statsWriteBucketsSeconds,
    registers: [registry],
  })
  return {
    contentType: registry.contentType,
    read: async () => {
      for (const [state, count] of Object.entries(await countAgents())) agents.set({ state }, count)
      return registry.metrics()
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
    observeStatsWrite: (durationSeconds) => {
      statsWrites.observe(durationSeconds)
    },
  }
}

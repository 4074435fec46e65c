/** A state service over a store in memory, with a clock that only `moveClock` moves. */
import { pino, type Logger } from 'pino'
import { createInProcessBus } from '../../../src/coordinator/bus/in-process.js'
import { createBackgroundWork } from '../../../src/coordinator/background.js'
import { createLeases } from '../../../src/coordinator/store/leases.js'
import { createJoinToken } from '../../../src/coordinator/registration/join-tokens.js'
import type { WantedJoinToken } from '../../../src/coordinator/registration/join-tokens.js'
import type { StateService } from '../../../src/coordinator/service.js'
import { createLiveSamples } from '../../../src/coordinator/statistics/live-samples.js'
import type { Actor } from '../../../src/resources/permission.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { noArchive } from '../../../src/coordinator/statistics/store/no-archive.js'
import type { StatisticsArchive } from '../../../src/coordinator/statistics/store/statistics-archive.js'

export const administrator: Actor = {
  accountId: 1,
  accountName: 'admin',
  sessionId: 1,
  organizationId: null,
  role: 'system',
  grants: {},
}

export function administratorOf(organizationId: number): Actor {
  return { ...administrator, organizationId, role: 'administrator' }
}

export interface TestService extends StateService {
  moveClock(ms: number): void
  /** Log entries at warn and above. */
  readonly warnings: readonly Record<string, unknown>[]
  readonly log: Logger
}

interface Teardown {
  teardown(work: () => Promise<void>): void
}

export async function startService(
  t: Teardown,
  options: {
    readonly heartbeatMs?: number
    readonly url?: string
    readonly statistics?: StatisticsArchive
  } = {},
): Promise<TestService> {
  const warnings: Record<string, unknown>[] = []
  const log = pino(
    { level: 'debug', base: null },
    {
      write: (line) => {
        // pino writes one JSON object per line.
        const entry = JSON.parse(line) as Record<string, unknown> & { level: number }
        if (entry.level >= 40) warnings.push(entry)
      },
    },
  )
  const store = await openStore(options.url ?? 'sqlite::memory:', log)
  const bus = createInProcessBus()
  let nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
  t.teardown(async () => {
    await bus.close()
    await store.close()
  })
  return {
    store,
    bus,
    liveSamples: createLiveSamples(bus),
    statistics: options.statistics ?? noArchive,
    now: () => nowMs,
    coordinatorId: 'coordinator-under-test',
    settings: {
      heartbeatMs: options.heartbeatMs ?? 60_000,
      statsIntervalMs: 10_000,
      accessTtlSeconds: 600,
      refreshTtlSeconds: 3600,
      apiLogDays: 7,
      allowedIncludes: new Set(),
      allowedModules: new Set(['directors', 'std']),
      webhookNetworks: [],
    },
    background: createBackgroundWork(),
    leases: createLeases({ store, now: () => nowMs, isAlone: true }),
    observeDeploy: () => undefined,
    observeInvalidation: () => undefined,
    observeDelivery: () => undefined,
    moveClock: (ms) => (nowMs += ms),
    warnings,
    log,
  }
}

/** Creates a join token, by default with 1000 uses. */
export async function makeToken(
  service: StateService,
  wanted: Partial<WantedJoinToken> = {},
  actor: Actor = administrator,
): Promise<string> {
  const { token } = await createJoinToken(service, actor, {
    label: 'test',
    maxUses: 1000,
    ...wanted,
  })
  return token
}

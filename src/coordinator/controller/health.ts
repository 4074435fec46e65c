/** `/healthz`, `/readyz`, `/metrics`: no login, and nothing in them that has a name (docs/behaviour.md, Health). */
import { FleetError } from '../../errors.js'
import type { Metrics } from '../http/metrics.js'
import { publicRoute, type Answer, type Route } from '../http/route.js'
import { waitAtMost } from '../../runtime/pause.js'
import type { StateService } from '../service.js'

interface HealthSource {
  readonly service: StateService
  readonly metrics: Metrics
  readonly readPhase: () => 'starting' | 'ready' | 'stopping'
}

/** A store or bus that answers later counts as away. */
const checkTimeoutMs = 2_000

export function healthRoutes({ service, metrics, readPhase }: HealthSource): readonly Route[] {
  return [
    healthRoute('/healthz', () => Promise.resolve({ status: 200, body: { status: 'alive' } })),
    healthRoute('/readyz', async () => {
      const phase = readPhase()
      if (phase !== 'ready') throw notReady(`the coordinator is ${phase}`)
      await checkInTime('the store does not answer', () => service.store.check())
      await checkInTime('the store cannot be written', () => service.store.checkWrites())
      await checkInTime('the bus does not answer', () => service.bus.check())
      return { status: 200, body: { status: 'ready' } }
    }),
    healthRoute('/metrics', async () => ({
      status: 200,
      body: Buffer.from(await metrics.read()),
      headers: { 'content-type': metrics.contentType },
    })),
  ]
}

function healthRoute(path: string, handle: () => Promise<Answer>): Route {
  return publicRoute(path, { operationId: path.slice(1), summary: 'Health of the process' }, handle)
}

/** The reason may name hosts, so it is not shown. */
async function checkInTime(problem: string, check: () => Promise<void>): Promise<void> {
  try {
    await waitAtMost(checkTimeoutMs, check(), () => {
      throw new Error(`no answer within ${checkTimeoutMs} ms`)
    })
  } catch {
    throw notReady(problem)
  }
}

function notReady(message: string): FleetError {
  return new FleetError('unavailable', 'store', message, { retryAfterSeconds: 1 })
}

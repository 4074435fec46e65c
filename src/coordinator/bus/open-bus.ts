/** Opens the bus that a URL names. */
import type { Logger } from 'pino'
import { FleetError } from '../../errors.js'
import type { Bus } from './bus.js'
import { createInProcessBus } from './in-process.js'

/** The bus of a single coordinator. */
const inProcessBus = 'in-process'

const natsPattern = /^(nats|tls):\/\//

/**
 * `in-process`, or `nats://…` and `tls://…`, several servers of one cluster separated by commas (docs/behaviour.md, Settings).
 * `fleet` separates the coordinators of several stores on one server. Throws FleetError 'invalid' for another URL,
 * 'unavailable' if no server is reached.
 */
export async function openBus(url: string, fleet: string, log: Logger): Promise<Bus> {
  if (url === inProcessBus) return createInProcessBus()
  if (url.split(',').every((one) => natsPattern.test(one) && URL.canParse(one))) {
    // Loaded only if used.
    const { connectNatsBus } = await import('./nats.js')
    return connectNatsBus(url.split(','), fleet, log)
  }
  // Without the URL itself, which may contain a password.
  throw new FleetError(
    'invalid',
    'store',
    'the bus URL is none of in-process and nats://user:password@host:port',
  )
}

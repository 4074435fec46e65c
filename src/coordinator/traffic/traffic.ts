/** The traffic of the fleet: the routes that read the caches' logs. */
import type { Logger } from 'pino'
import type { Route } from '../http/route.js'
import type { Authenticator } from '../identity/authenticate.js'
import type { SessionWatch } from '../identity/session-watch.js'
import type { StateService } from '../service.js'
import { LogReaders } from './log-readers.js'
import { logRoutes } from './log-routes.js'
import { createLogStreams } from './log-streams.js'
import { topRoute } from './top-route.js'

interface TrafficParts {
  readonly service: StateService
  readonly authenticator: Authenticator
  readonly sessions: SessionWatch
}

export interface Traffic {
  readonly routes: readonly Route[]
  close(): Promise<void>
}

export function openTraffic(parts: TrafficParts, log: Logger): Traffic {
  const { service, sessions } = parts
  const streams = createLogStreams(service.bus)
  const readers = new LogReaders({ streams, sessions, now: service.now, log })
  return {
    routes: [...logRoutes({ ...parts, readers }), topRoute(service)],
    close: async () => {
      await readers.close()
      await streams.close()
    },
  }
}

/** The console API (`/api/rest`, `/api/v1`; Basic or the session's cookie): routes, authentication, log. */
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { Api, Caller } from '../http/api.js'
import { readBasic, readCookie } from '../http/credentials.js'
import type { Route } from '../http/route.js'
import type { Licensing } from './license.js'
import { createConsoleLogins, type ConsoleLogins } from './users/logins.js'
import { createConsoleSessions, type ConsoleSessions } from './users/sessions.js'
import type { Identity } from '../identity/identity.js'
import { unauthenticated } from '../identity/sessions.js'
import { consoleAuthRoutes, cookieName } from './users/auth-routes.js'
import { describeConsoleError } from './error-body.js'
import { graceHeaders } from './license-routes.js'
import { requireOwnOrigin } from './own-origin.js'
import { consoleRoutes } from './routes.js'

interface ConsoleParts {
  readonly identity: Identity
  readonly licensing: Licensing
  readonly onAnswered: NonNullable<Api['onAnswered']>
  /** The URL by which browsers open this service: its pages may write with the cookie. */
  readonly readBaseUrl: () => string
}

interface Console {
  readonly api: Api
  close(): void
}

/** Both prefixes of the console start with this; other paths below /api/v1 belong to the controller. */
const consolePrefix = '/api'

export function openConsole(parts: ConsoleParts): Console {
  const { identity, licensing, onAnswered, readBaseUrl } = parts
  const logins = createConsoleLogins(identity)
  const sessions = createConsoleSessions(identity)
  const routes = consoleRoutes(identity, licensing)
  return {
    api: {
      name: 'console',
      prefix: consolePrefix,
      prefixes: [`${consolePrefix}/rest`, ...listNouns(routes)],
      routes: [...consoleAuthRoutes({ logins, sessions, readBaseUrl }), ...routes],
      authenticate: (caller) => authenticate({ logins, sessions, readBaseUrl }, caller),
      admit: () => licensing.requireLicense(),
      // An unavailable store is reported by the response itself.
      readHeaders: async () => {
        const standing = await licensing.read().catch(() => null)
        return standing ? graceHeaders(standing.state) : {}
      },
      describeError: describeConsoleError,
      onAnswered,
    },
    close: () => {
      logins.close()
      sessions.close()
    },
  }
}

/** `/api/v1/cache`: every path below it belongs to the console, and an unknown one there gets the console's error. */
function listNouns(routes: readonly Route[]): readonly string[] {
  const nouns = routes.map(({ path }) => path.split('/').slice(0, 3).join('/'))
  return [...new Set(nouns)].map((path) => consolePrefix + path)
}

interface Authenticators {
  readonly logins: ConsoleLogins
  readonly sessions: ConsoleSessions
  readonly readBaseUrl: () => string
}

/** docs/behaviour.md, Console: an invalid cookie alone is 401, together with a valid name and password 403. */
async function authenticate(
  { logins, sessions, readBaseUrl }: Authenticators,
  caller: Caller,
): Promise<Actor> {
  const { headers, sourceAddress } = caller
  const cookie = readCookie(headers, cookieName)
  const credentials = readBasic(headers)
  if (cookie !== undefined) {
    const actor = await sessions.recognize(cookie)
    if (actor) {
      requireOwnOrigin(caller, readBaseUrl())
      return actor
    }
    if (!credentials) throw unauthenticated('the session has ended; log in again')
  }
  if (!credentials)
    throw unauthenticated('this call needs a name and a password (HTTP basic), or a session')
  const actor = await logins.recognize({ ...credentials, sourceAddress })
  if (cookie === undefined) return actor
  throw new FleetError('forbidden', 'auth', 'the session of the cookie has ended; log in again')
}

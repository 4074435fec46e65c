/** `/rest/login`, `/rest/logout`, `/rest/checkcookie`, `/rest/version`: the calls that need no credentials (docs/behaviour.md, Console). */
import { Type } from 'typebox'
import { consoleRoles } from '../../../resources/console-role.js'
import type { Actor } from '../../../resources/permission.js'
import { version } from '../../../version.js'
import { readCookie } from '../../http/credentials.js'
import { route, type Route } from '../../http/route.js'
import type { ConsoleLogins } from './logins.js'
import type { ConsoleSessions } from './sessions.js'
import { unauthenticated } from '../../identity/sessions.js'
import { requireOwnOrigin } from '../own-origin.js'

export const cookieName = 'JSESSIONID'
const errorKey = 'auth'

/** The name of the 0.x releases. */
const codename = 'arctic-tern'

const sessionSchema = Type.Object({ username: Type.String(), role: Type.Enum(consoleRoles) })

interface ConsoleAuthParts {
  readonly logins: ConsoleLogins
  readonly sessions: ConsoleSessions
  readonly readBaseUrl: () => string
}

export function consoleAuthRoutes(parts: ConsoleAuthParts): readonly Route[] {
  const { logins, sessions, readBaseUrl } = parts
  const answerTo = (actor: Actor): object => ({
    username: actor.accountName,
    role: actor.console?.role,
  })
  return [
    route({
      method: 'POST',
      path: '/rest/login',
      operationId: 'consoleLogin',
      summary: 'Starts a session: its cookie counts until 30 minutes without a call',
      errorKey,
      permission: 'public',
      bodyTypes: ['form'],
      ignoresUnknownKeys: true,
      body: Type.Object({
        username: Type.String({ description: 'the account, or account@organization' }),
        password: Type.String(),
      }),
      answers: { 200: sessionSchema },
      handle: async ({ body, sourceAddress, secure, note }) => {
        note({ account: body.username })
        const { username: user, password } = body
        const actor = await logins.recognize({ user, password, sourceAddress })
        const cookie = cookieOf(await sessions.start(actor), secure)
        return { status: 200, body: answerTo(actor), headers: { 'set-cookie': cookie } }
      },
    }),
    route({
      method: 'POST',
      path: '/rest/logout',
      operationId: 'consoleLogout',
      summary: "Ends the cookie's session",
      errorKey,
      permission: 'public',
      answers: { 200: null },
      handle: async ({ headers, secure }) => {
        const cookie = readCookie(headers, cookieName)
        const actor = cookie === undefined ? undefined : await sessions.recognize(cookie)
        if (actor) {
          requireOwnOrigin({ headers, secure, method: 'POST' }, readBaseUrl())
          await sessions.end(actor)
        }
        return { status: 200, headers: { 'set-cookie': `${cookieOf('', secure)}; Max-Age=0` } }
      },
    }),
    route({
      method: 'GET',
      path: '/rest/checkcookie',
      operationId: 'checkCookie',
      summary: 'Whether the session of the cookie lives: 200, else 401',
      errorKey,
      permission: 'public',
      answers: { 200: sessionSchema },
      handle: async ({ headers }) => {
        const cookie = readCookie(headers, cookieName)
        const actor = cookie === undefined ? undefined : await sessions.recognize(cookie)
        if (!actor) throw unauthenticated('there is no session; log in')
        return { status: 200, body: answerTo(actor) }
      },
    }),
    route({
      method: 'GET',
      path: '/rest/version',
      operationId: 'consoleVersion',
      summary: 'Which release this is',
      errorKey,
      permission: 'public',
      answers: { 200: Type.Object({ codename: Type.String(), version: Type.String() }) },
      handle: () => Promise.resolve({ status: 200, body: { codename, version } }),
    }),
  ]
}

function cookieOf(value: string, secure: boolean): string {
  return `${cookieName}=${value}; Path=/api; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** `/auth`: login, refresh, logout, `whoami` and the change of the caller's own password. */
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import { may, permissionTypes, type Actor } from '../../resources/permission.js'
import { whoami, type Whoami } from '../../resources/session.js'
import { FleetError } from '../../errors.js'
import { readBasic, readCookie, readToken } from '../http/credentials.js'
import { route, type Answer, type Route } from '../http/route.js'
import type { Identity } from './identity.js'
import { changeOwnPassword, login } from './login.js'
import { endSession, refreshSession, unauthenticated, type Tokens } from './sessions.js'
import { orNull } from '../api/references.js'
import { answerSchema } from '../api/resource-schemas.js'
import { readOrganizationNames } from '../store/owner.js'

const errorKey = 'auth'
const closed = { additionalProperties: false }
const expirySchema = Type.Integer({ description: 'seconds since 1970' })

export const tokensSchema = Type.Object(
  {
    accessToken: Type.String({ description: 'for `Authorization: Bearer`' }),
    accessExpire: expirySchema,
    refreshToken: Type.Optional(
      Type.String({
        description: 'for `Authorization: Refresh`, once; left out when it is in the cookie',
      }),
    ),
    refreshExpire: expirySchema,
  },
  closed,
)

const whoamiSchema = answerSchema(whoami)

const cookieName = 'cachefleet_refresh'
const cookiePath = '/api/v1/auth'

const loginBody = Type.Object(
  {
    org: Type.Optional(
      orNull(Type.String({ description: "organization; a system administrator's is left out" })),
    ),
    cookie: Type.Optional(
      Type.Boolean({ description: 'keep the refresh token in a cookie, for web pages' }),
    ),
  },
  closed,
)

export function authRoutes(identity: Identity): readonly Route[] {
  return [...tokenRoutes(identity), ...ownRoutes(identity)]
}

function tokenRoutes(identity: Identity): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/auth/login',
      operationId: 'login',
      summary: 'Begins a session; name and password as HTTP basic credentials',
      errorKey,
      permission: 'public',
      body: loginBody,
      bodyOptional: true,
      answers: { 200: tokensSchema },
      handle: async ({ headers, body, sourceAddress, secure, note }) => {
        const given = readLoginBody(body)
        const organization = given.org ?? undefined
        if (organization !== undefined) note({ organization })
        const credentials = readBasic(headers)
        if (!credentials) throw unauthenticated('a login needs a name and a password (HTTP basic)')
        const tokens = await login(identity, { ...credentials, organization, sourceAddress })
        return given.cookie === true ? answerWithCookie(tokens, secure) : answerTokens(tokens)
      },
    }),
    route({
      method: 'POST',
      path: '/auth/refresh',
      operationId: 'refresh',
      summary: 'New tokens for a refresh token (`Authorization: Refresh`, or the cookie), once',
      errorKey,
      asksOnly: true,
      permission: 'public',
      answers: { 200: tokensSchema },
      handle: async ({ context, headers, sourceAddress, secure, note }) => {
        const shown = readToken(headers, 'refresh')
        const kept = readOwnCookie(headers)
        const token = shown ?? kept
        if (token === undefined)
          throw unauthenticated('a refresh needs "Authorization: Refresh <refresh token>"')
        const tokens = await refreshSession(identity, context, { token, sourceAddress, note })
        return shown === undefined ? answerWithCookie(tokens, secure) : answerTokens(tokens)
      },
    }),
  ]
}

/** Routes for every logged-in caller. */
function ownRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  return [
    route({
      method: 'POST',
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'Ends the session of the access token',
      errorKey,
      permission: 'anyone',
      answers: { 204: null },
      handle: async ({ actor, secure }) => {
        await endSession(service, actor.sessionId)
        return { status: 204, headers: { 'set-cookie': cookieOf('', 0, secure) } }
      },
    }),
    route({
      method: 'GET',
      path: '/auth/whoami',
      operationId: 'whoami',
      summary: 'Whose access token this is and what it allows',
      errorKey,
      permission: 'anyone',
      answers: { 200: whoamiSchema },
      handle: async ({ actor }) => {
        const ids = [actor.organizationId].filter((id) => id !== null)
        const names = await readOrganizationNames(service.store.queries, ids)
        return { status: 200, body: toWhoami(actor, names) }
      },
    }),
    route({
      method: 'PUT',
      path: '/auth/password',
      operationId: 'changePassword',
      summary:
        'Changes the own password and ends all sessions of the account; a wrong old one is 403',
      errorKey,
      permission: 'anyone',
      body: Type.Object({ old: Type.String(), new: Type.String() }, closed),
      answers: { 204: null },
      handle: async ({ actor, body, sourceAddress }) => {
        const passwords = { old: body.old, fresh: body.new }
        await changeOwnPassword(identity, actor, passwords, sourceAddress)
        return { status: 204 }
      },
    }),
  ]
}

/** The body is optional; a missing one is undefined. */
function readLoginBody(
  body: { readonly org?: string | null; readonly cookie?: boolean } | undefined,
): { readonly org?: string | null; readonly cookie?: boolean } {
  return body ?? {}
}

export function answerTokens(tokens: Tokens): Answer {
  return { status: 200, body: tokens }
}

/** The cookie is HttpOnly, so the page's scripts never see the refresh token. */
export function answerWithCookie({ refreshToken, ...tokens }: Tokens, secure: boolean): Answer {
  const cookie = cookieOf(refreshToken, tokens.refreshExpire, secure)
  return { status: 200, body: tokens, headers: { 'set-cookie': cookie } }
}

/** `expire`: seconds since 1970; 0 removes the cookie. */
function cookieOf(value: string, expire: number, secure: boolean): string {
  const flags = `Path=${cookiePath}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return `${cookieName}=${value}; ${flags}; Expires=${new Date(expire * 1000).toUTCString()}`
}

/** SameSite=Strict admits other origins of the same site, so Sec-Fetch-Site must be `same-origin` if the browser sends it. */
function readOwnCookie(headers: IncomingHttpHeaders): string | undefined {
  const cookie = readCookie(headers, cookieName)
  const origin = headers['sec-fetch-site']
  if (cookie !== undefined && origin !== undefined && origin !== 'same-origin')
    throw new FleetError(
      'forbidden',
      errorKey,
      'the cookie is accepted only from pages of this service',
    )
  return cookie
}

function toWhoami(actor: Actor, names: ReadonlyMap<number, string>): Whoami {
  const { accountId, accountName, organizationId, role, sessionId } = actor
  return {
    account: { id: accountId, name: accountName },
    organization:
      organizationId === null
        ? null
        : { id: organizationId, name: names.get(organizationId) ?? '' },
    role,
    permissions: permissionTypes
      .map((type) => ({ type, read: may(actor, type, 'read'), write: may(actor, type, 'write') }))
      .filter(({ read }) => read),
    session: { id: sessionId },
  }
}

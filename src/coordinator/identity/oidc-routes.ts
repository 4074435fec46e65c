/** `/auth/oidc`: logging in at an organization's identity provider (docs/behaviour.md, Identity providers). */
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import { readCookie } from '../http/credentials.js'
import { route, type Answer, type Route } from '../http/route.js'
import type { Identity } from './identity.js'
import { beginLogin, exchangeCode, finishLogin, loginSeconds } from './oidc-login.js'
import { answerTokens, answerWithCookie, tokensSchema } from './auth-routes.js'

const errorKey = 'auth'
const cookieName = 'cachefleet_oidc'
const cookiePath = '/api/v1/auth/oidc'

/** Failures are logged although this is a GET, because they are failed logins (docs/behaviour.md, API log). */
export const callbackOperation = 'finishOidcLogin'

const beginQuery = Type.Object(
  {
    return: Type.Optional(
      Type.String({
        description:
          'where the browser ends, with a one-time `code`: http://127.0.0.1:<port>/…, or a page of this service',
      }),
    ),
  },
  { additionalProperties: false },
)

const exchangeBody = Type.Object(
  {
    code: Type.String(),
    cookie: Type.Optional(
      Type.Boolean({ description: 'keep the refresh token in a cookie, for web pages' }),
    ),
  },
  { additionalProperties: false },
)

/** `readBaseUrl` returns the URL of this service for browsers and providers, such as `https://fleet.example.com`. */
export function oidcRoutes(identity: Identity, readBaseUrl: () => string): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/auth/oidc/{organization}',
      operationId: 'beginOidcLogin',
      summary: "Sends a browser to the organization's identity provider",
      errorKey,
      permission: 'public',
      query: beginQuery,
      answers: { 302: null },
      handle: async ({ context, params, query, secure }) => {
        const { location, cookie } = await beginLogin(identity, context, {
          organization: params['organization'] ?? '',
          returnTo: query.return,
          baseUrl: readBaseUrl(),
        })
        const kept = cookieOf(cookie, loginSeconds, isSecure(secure, readBaseUrl()))
        return { status: 302, headers: { location, 'set-cookie': kept } }
      },
    }),
    route({
      method: 'GET',
      path: '/auth/oidc/callback',
      operationId: callbackOperation,
      summary: 'Where the identity provider sends the browser back; not to be called otherwise',
      errorKey,
      permission: 'public',
      query: Type.Object({}, { additionalProperties: true }),
      answers: { 200: tokensSchema, 303: null },
      handle: async ({ context, query, headers, sourceAddress, secure, note }) => {
        const baseUrl = readBaseUrl()
        const finished = await finishLogin(identity, context, {
          parameters: toParameters(query),
          cookie: readCookie(headers, cookieName),
          baseUrl,
          sourceAddress,
          note,
        })
        const over = cookieOf('', 0, isSecure(secure, baseUrl))
        if (finished.kind === 'return')
          return {
            status: 303,
            headers: { location: finished.location, 'set-cookie': over, ...quiet },
          }
        return wantsPage(headers)
          ? toPage(answerWithCookie(finished.tokens, isSecure(secure, baseUrl)), over)
          : { ...answerTokens(finished.tokens), headers: { 'set-cookie': over } }
      },
    }),
    route({
      method: 'POST',
      path: '/auth/oidc/token',
      operationId: 'exchangeOidcCode',
      summary: 'Tokens for the one-time code that a login by an identity provider ended with',
      errorKey,
      permission: 'public',
      body: exchangeBody,
      answers: { 200: tokensSchema },
      handle: async ({ body, sourceAddress, secure, note }) => {
        const tokens = await exchangeCode(identity, {
          code: body.code,
          sourceAddress,
          note,
        })
        return body.cookie === true ? answerWithCookie(tokens, secure) : answerTokens(tokens)
      },
    }),
  ]
}

/** Keeps the code in the URL out of the Referer header. */
const quiet = { 'referrer-policy': 'no-referrer' }

/** Behind a proxy that terminates TLS, the public URL decides. */
function isSecure(secure: boolean, baseUrl: string): boolean {
  return secure || baseUrl.startsWith('https:')
}

/** SameSite=Lax, because browsers send no Strict cookie on a redirect from the provider's page. */
function cookieOf(value: string, seconds: number, secure: boolean): string {
  const flags = `Path=${cookiePath}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  return `${cookieName}=${value}; ${flags}; Max-Age=${seconds}`
}

function toParameters(query: object): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of new Map<string, unknown>(Object.entries(query)))
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  return parameters
}

function wantsPage({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/html') && !accept.includes('application/json')
}

/** Redirects a browser without a return URL to the page and sets the page's cookie. */
function toPage({ headers }: Answer, over: string): Answer {
  const kept = headers?.['set-cookie'] ?? []
  return { status: 303, headers: { location: '/', 'set-cookie': [over, ...[kept].flat()] } }
}

/** The calls of a session: login, refresh, whoami. */
import { basic, type CallAnswer } from '../../support/http-call.js'
import { administrator, type Controller } from '../../support/start-controller.js'

export const right = { authorization: basic(administrator.user, administrator.password) }
export const wrong = { authorization: basic(administrator.user, 'not the right one') }

export function tryLogin(c: Controller, headers: Record<string, string>): Promise<CallAnswer> {
  return c.call('POST', '/api/v1/auth/login', { headers })
}

export function refresh(c: Controller, token: unknown): Promise<CallAnswer> {
  const headers = { authorization: `Refresh ${String(token)}` }
  return c.call('POST', '/api/v1/auth/refresh', { headers })
}

export function whoami(c: Controller, token: unknown): Promise<CallAnswer> {
  return c.call('GET', '/api/v1/auth/whoami', { token: String(token) })
}

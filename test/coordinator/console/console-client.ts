/** A controller with its console, and a client that calls it with a name and password or with the cookie of a login. */
import type { Test } from 'tap'
import { basic, callHttp, type CallAnswer } from '../../support/http-call.js'
import {
  administrator,
  startController,
  type Controller,
  type ControllerOptions,
} from '../../support/start-controller.js'

export interface ConsoleCall {
  /** `name:password`; null: no credentials. Default: the first administrator. */
  readonly as?: string | null
  readonly cookie?: string
  readonly body?: unknown
  /** Sent unchanged, with `type`. */
  readonly text?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ConsoleClient {
  readonly controller: Controller
  /** `path` below /api. */
  readonly call: (method: string, path: string, call?: ConsoleCall) => Promise<CallAnswer>
  /** Returns the cookie: `JSESSIONID=…`. */
  readonly login: (user: string, password: string) => Promise<string>
}

export const root = `${administrator.user}:${administrator.password}`

export async function startConsole(
  t: Test,
  options: ControllerOptions = {},
): Promise<ConsoleClient> {
  const controller = await startController(t, options)
  const call = callsTo(controller.base)
  return {
    controller,
    call,
    login: async (user, password) => {
      const answer = await call('POST', '/rest/login', {
        as: null,
        text: new URLSearchParams({ username: user, password }).toString(),
        type: 'application/x-www-form-urlencoded',
      })
      const [cookie = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';')
      return cookie
    },
  }
}

/** A client for a running console. */
export function callsTo(base: string): ConsoleClient['call'] {
  return async (method, path, given = {}) => {
    const { as = root, cookie, headers, ...sent } = given
    const answer = await callHttp(method, `${base}/api${path}`, {
      ...sent,
      headers: {
        ...(as === null ? {} : { authorization: basic(...split(as)) }),
        ...(cookie === undefined ? {} : { cookie }),
        ...headers,
      },
    })
    return { ...answer, body: parse(answer.text) }
  }
}

function split(text: string): [string, string] {
  const colon = text.indexOf(':')
  return [text.slice(0, colon), text.slice(colon + 1)]
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

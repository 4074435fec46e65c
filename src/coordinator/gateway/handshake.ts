/** Authenticates and admits agents before the upgrade; the result is a credential or an HTTP status (docs/behaviour.md, Enrolment). */
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Context } from '../../context.js'
import { FleetError, type ErrorKey, type ErrorKind } from '../../errors.js'
import { agentLinkSubprotocol } from '../../messages/envelope.js'
import {
  recognizeJoinToken,
  recognizeKey,
  type Credential,
} from '../registration/agent-credentials.js'
import { isAgentLinked } from '../reports/agent-links.js'
import type { LoginLimits } from '../identity/login-limits.js'
import type { StateService } from '../service.js'

/** Visible ASCII; keys and tokens of agents and coordinators have 43 or 64 characters. */
const authorizationPattern = /^(Agent|Join) +([\x21-\x7e]{1,512})$/i

export interface Door {
  readonly service: StateService
  readonly limits: LoginLimits
}

/** Throws FleetError: unauthenticated, limited, invalid, conflict. */
export async function admitAgent(
  { service, limits }: Door,
  request: IncomingMessage,
): Promise<Credential> {
  const credential = await countFailures(limits, request, () => readCredential(service, request))
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? []
  if (!offered.some((name) => name.trim() === agentLinkSubprotocol))
    throw new FleetError(
      'invalid',
      'agent',
      `Sec-WebSocket-Protocol must offer ${agentLinkSubprotocol}`,
    )
  const agentId = credential.kind === 'known' ? credential.agentId : credential.takesOver
  if (agentId !== null && (await isAgentLinked(service, agentId)))
    throw new FleetError('conflict', 'agent', `agent ${credential.name} is linked already`)
  return credential
}

/** Returns the agent's key, which the HTTP calls beside the link use as well. Throws FleetError 'unauthenticated'. */
export function readAgentKey(request: IncomingMessage): string {
  const [, scheme = '', secret = ''] = matchAuthorization(request)
  if (scheme.toLowerCase() === 'agent') return secret
  throw new FleetError('unauthenticated', 'auth', 'Authorization must be: Agent <key>')
}

/**
 * Limits callers with an invalid key or token by the address of the connection, also behind a proxy; a valid key is never
 * rejected (docs/behaviour.md, Failed logins).
 */
export async function countFailures<T>(
  limits: LoginLimits,
  { socket }: IncomingMessage,
  recognize: () => Promise<T>,
): Promise<T> {
  try {
    return await recognize()
  } catch (error) {
    if (error instanceof FleetError && error.kind === 'unauthenticated') {
      const address = socket.remoteAddress ?? ''
      limits.check(null, address)
      limits.countFailure(null, address)
    }
    throw error
  }
}

async function readCredential(
  service: StateService,
  request: IncomingMessage,
): Promise<Credential> {
  const [, scheme = '', secret = ''] = matchAuthorization(request)
  if (scheme.toLowerCase() === 'agent') return recognizeKey(service, secret)
  const name = request.headers['x-cachefleet-name']
  return recognizeJoinToken(service, secret, typeof name === 'string' ? name : '')
}

function matchAuthorization(request: IncomingMessage): RegExpExecArray {
  const match = authorizationPattern.exec(request.headers.authorization ?? '')
  if (match) return match
  throw new FleetError(
    'unauthenticated',
    'auth',
    'Authorization must be: Agent <key>, or Join <token> with X-Cachefleet-Name',
  )
}

const statusOfKind: Readonly<Partial<Record<ErrorKind, number>>> = {
  invalid: 400,
  unauthenticated: 401,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  unavailable: 503,
  limited: 429,
}

interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Returns the response to a refused caller; bugs are logged here and reported without detail. */
export function toRefusal(context: Context, error: unknown): Refusal {
  const status = error instanceof FleetError ? statusOfKind[error.kind] : undefined
  if (!(error instanceof FleetError) || status === undefined) {
    context.log.error({ err: error }, 'the agent link failed')
    return refusalOf(context, 500, { errorKey: 'agent', errorMsg: 'internal error' })
  }
  context.log.info({ status }, `the agent link refused a caller: ${error.message}`)
  const body = { errorKey: error.errorKey, errorMsg: error.message }
  return refusalOf(context, status, body, error.retryAfterSeconds)
}

function refusalOf(
  { traceId }: Context,
  status: number,
  error: { readonly errorKey: ErrorKey; readonly errorMsg: string },
  retryAfterSeconds = 1,
): Refusal {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-trace-id': traceId,
      ...(status === 401 && { 'www-authenticate': 'Agent, Join' }),
      ...((status === 503 || status === 429) && {
        'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))),
      }),
    },
    body: JSON.stringify({ traceId, ...error }),
  }
}

/** Responds on the bare socket of an upgrade request and ends it. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const { status, headers, body } = refusal
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.once('finish', () => {
    socket.destroy()
  })
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`)
}

/** Before the upgrade: who is it, and may it come in? Everything here ends in a credential or an HTTP status (choices: 4). */
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { linkSubject } from '../../bus/bus.js'
import type { Context } from '../../context.js'
import { FleetError, type ErrorKey, type ErrorKind } from '../../errors.js'
import { agentLinkSubprotocol } from '../../messages/envelope.js'
import {
  recognizeJoinToken,
  recognizeKey,
  type Credential,
} from '../state-service/agent-credentials.js'
import type { StateService } from '../state-service/service.js'

/** Visible ASCII; what agents and coordinators make has 43 or 64 characters. */
const authorizationPattern = /^(Agent|Join) +([\x21-\x7e]{1,512})$/i
/** A session asks its agent for a pong before it says that it lives; then it gets this long to say so. */
const probeTimeoutMs = 4000

/** Throws FleetError: unauthenticated, invalid, conflict. */
export async function admitAgent(
  service: StateService,
  request: IncomingMessage,
): Promise<Credential> {
  const credential = await readCredential(service, request)
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? []
  if (!offered.some((name) => name.trim() === agentLinkSubprotocol))
    throw new FleetError(
      'invalid',
      'agent',
      `Sec-WebSocket-Protocol must offer ${agentLinkSubprotocol}`,
    )
  const agentId = credential.kind === 'known' ? credential.agentId : credential.takesOver
  if (agentId !== null && (await isLinked(service, agentId)))
    throw new FleetError('conflict', 'agent', `agent ${credential.name} is linked already`)
  return credential
}

/** The agent's own key, as the calls beside the link have it too. Throws FleetError 'unauthenticated'. */
export function readAgentKey(request: IncomingMessage): string {
  const [, scheme = '', secret = ''] = matchAuthorization(request)
  if (scheme.toLowerCase() === 'agent') return secret
  throw new FleetError('unauthenticated', 'auth', 'Authorization must be: Agent <key>')
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

/** Asked of whichever process holds the session; a holder that does not answer is gone. */
async function isLinked(service: StateService, agentId: number): Promise<boolean> {
  try {
    await service.bus.request(linkSubject(agentId), {}, probeTimeoutMs)
    return true
  } catch (error) {
    if (error instanceof FleetError) return false
    throw error
  }
}

const statusOfKind: Readonly<Partial<Record<ErrorKind, number>>> = {
  invalid: 400,
  unauthenticated: 401,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  unavailable: 503,
  limited: 503,
}

export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a refused caller is told; bugs are logged here and told as nothing but that. */
export function toRefusal(context: Context, error: unknown): Refusal {
  const status = error instanceof FleetError ? statusOfKind[error.kind] : undefined
  if (!(error instanceof FleetError) || status === undefined) {
    context.log.error({ err: error }, 'the agent link failed')
    return refusalOf(context, 500, { errorKey: 'agent', errorMsg: 'internal error' })
  }
  context.log.info({ status }, `the agent link refused a caller: ${error.message}`)
  return refusalOf(context, status, { errorKey: error.errorKey, errorMsg: error.message })
}

function refusalOf(
  { traceId }: Context,
  status: number,
  error: { readonly errorKey: ErrorKey; readonly errorMsg: string },
): Refusal {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-trace-id': traceId,
      ...(status === 401 && { 'www-authenticate': 'Agent, Join' }),
      ...(status === 503 && { 'retry-after': '1' }),
    },
    body: JSON.stringify({ traceId, ...error }),
  }
}

/** Answers on the bare socket of an upgrade request, and ends it. */
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

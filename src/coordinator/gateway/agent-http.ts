/**
 * HTTP calls of agents beside the link, authenticated with the agent's key: a VCL text or certificate by its hash, the agent's own
 * state, and an answer too large for a message (docs/behaviour.md, Agent link). Plain node:http, mounted below the link's path. A call
 * may reach a different coordinator than the link: answers are forwarded to the process that waits for them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TLSSocket } from 'node:tls'
import { largeAnswerSubject, type OfferedAnswer } from '../bus/subjects.js'
import { createContext } from '../../context.js'
import { FleetError } from '../../errors.js'
import { agentLinkPath, answerLimitBytes } from '../../messages/envelope.js'
import { recognizeKey } from '../registration/agent-credentials.js'
import { readOwnState } from '../agents/own-state.js'
import { readSourceFor } from '../agents/agent-desired.js'
import type { SessionParts } from './session-parts.js'
import { countFailures, readAgentKey, toRefusal, type Door } from './handshake.js'

export type HandleRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Limit of bodies in transit for all agents together: 256 MiB. */
const transitLimitBytes = 4 * answerLimitBytes
const bodyTimeoutMs = 60_000
/** Enough time to send 64 MiB to another coordinator. */
const offerTimeoutMs = 30_000

/** Returns chain and key if this agent's desired state names them, else undefined. */
export type OpenCertificate = (agentId: number, sha: string) => Promise<string | undefined>

type AgentHttpParts = Pick<SessionParts, 'service' | 'log' | 'sessions'> &
  Door & { readonly openCertificate: OpenCertificate }

interface AgentHttp extends AgentHttpParts {
  readonly transit: { bytes: number }
}

export function createAgentHttp(parts: AgentHttpParts): HandleRequest {
  const http: AgentHttp = { ...parts, transit: { bytes: 0 } }
  return async (request, response) => {
    try {
      await route(http, request, response)
    } catch (error) {
      const { status, headers, body } = toRefusal(createContext(parts.log), error)
      // The rest of the body is not read.
      if (!request.complete) response.shouldKeepAlive = false
      if (!response.headersSent) response.writeHead(status, headers)
      response.end(body)
    }
  }
}

async function route(
  http: AgentHttp,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').replace(/\?.*$/s, '')
  const [noun = '', what = '', ...more] = path.startsWith(`${agentLinkPath}/`)
    ? path.slice(agentLinkPath.length + 1).split('/')
    : []
  const method = methods.get(noun)
  const isPath = what !== '' && more.length === 0
  if (!isPath || method === undefined)
    throw new FleetError('not-found', 'path', 'this path is not one of the agent link')
  if (request.method !== method) {
    response.writeHead(405, { ...noStore, allow: method }).end()
    return
  }
  const { agentId } = await countFailures(http.limits, request, async () =>
    recognizeKey(http.service, readAgentKey(request)),
  )
  if (method === 'GET') {
    const text = await readText(http, request, noun, { agentId, what })
    if (text === undefined) throw new FleetError('not-found', 'agent', `${what} was not found`)
    response.writeHead(200, { ...noStore, 'content-type': contentTypeOf(noun) }).end(text)
    return
  }
  await receiveAnswer(http, request, { agentId, sequence: Number(what) })
  response.writeHead(204, noStore).end()
}

function contentTypeOf(noun: string): string {
  return noun === 'agents' ? 'application/json' : 'text/plain; charset=utf-8'
}

interface Wanted {
  readonly agentId: number
  /** A digest, or `self`. */
  readonly what: string
}

async function readText(
  http: AgentHttp,
  request: IncomingMessage,
  noun: string,
  { agentId, what }: Wanted,
): Promise<string | undefined> {
  if (noun === 'agents') return what === 'self' ? readSelf(http, agentId) : undefined
  if (noun === 'sources') return readSourceFor(http.service, agentId, what)
  requirePrivate(request)
  return http.openCertificate(agentId, what)
}

async function readSelf({ service }: AgentHttp, agentId: number): Promise<string | undefined> {
  const own = await readOwnState(service, agentId)
  return own && JSON.stringify(own)
}

const methods: ReadonlyMap<string, 'GET' | 'PUT'> = new Map([
  ['sources', 'GET'],
  ['agents', 'GET'],
  ['certificates', 'GET'],
  ['answers', 'PUT'],
])

/** Private keys are sent only over TLS or within this host. Judged by the connection; a proxy's own claims are not known. */
function requirePrivate({ socket }: IncomingMessage): void {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  const isLoopback = address === '::1' || address.startsWith('127.')
  if (socket instanceof TLSSocket || isLoopback) return
  throw new FleetError(
    'forbidden',
    'certificate',
    'the key of a certificate travels over wss:// or loopback only; give the coordinator a certificate of its own (--tls-cert)',
  )
}

const noStore = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

async function receiveAnswer(
  http: AgentHttp,
  request: IncomingMessage,
  { agentId, sequence }: { readonly agentId: number; readonly sequence: number },
): Promise<void> {
  const { transit } = http
  const offer = (answer: OfferedAnswer): Promise<boolean> => offerAnswer(http, agentId, answer)
  if (!(await offer({ sequence }))) throw notWaitedFor(sequence)
  const declared = Number(request.headers['content-length'] ?? answerLimitBytes)
  if (!(declared <= answerLimitBytes)) throw tooLarge()
  if (transit.bytes + declared > transitLimitBytes)
    throw new FleetError('unavailable', 'agent', 'too many answers are in transit')
  transit.bytes += declared
  try {
    const bytes = await readBytes(request, declared)
    if (!(await offer({ sequence, bytes }))) throw notWaitedFor(sequence)
  } finally {
    transit.bytes -= declared
  }
}

/** Returns true if a call waits for the answer, here or in the process that holds the agent's link. */
async function offerAnswer(
  { service, sessions }: AgentHttp,
  agentId: number,
  answer: OfferedAnswer,
): Promise<boolean> {
  const session = sessions.get(agentId)
  if (session) return session.takeOffered(answer)
  try {
    return await service.bus.request(largeAnswerSubject(agentId), answer, offerTimeoutMs)
  } catch (error) {
    if (error instanceof FleetError && error.errorKey === 'agent') return false
    throw error
  }
}

/** Fills one buffer as data arrives, because concatenating the chunks at the end would take long. */
async function readBytes(request: IncomingMessage, declaredBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(declaredBytes)
  let sizeBytes = 0
  const late = setTimeout(() => {
    request.destroy(new FleetError('invalid', 'body', 'the body took too long'))
  }, bodyTimeoutMs)
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if (sizeBytes + chunk.length > declaredBytes) throw tooLarge()
      sizeBytes += chunk.copy(bytes, sizeBytes)
    }
  } finally {
    clearTimeout(late)
  }
  return bytes.subarray(0, sizeBytes)
}

function tooLarge(): FleetError {
  return new FleetError('too-large', 'body', `an answer has at most ${answerLimitBytes} bytes`)
}

function notWaitedFor(sequence: number): FleetError {
  return new FleetError('not-found', 'agent', `no caller waits for answer ${sequence}`)
}

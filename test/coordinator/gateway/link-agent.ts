/** The agent end of the link under control of a test: it sends only the messages that the test gives it. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import {
  AgentGateway,
  type GatewayOptions,
} from '../../../src/coordinator/gateway/agent-gateway.js'
import { startPlacementFollower } from '../../../src/coordinator/deploying/placement-follower.js'
import type {
  AgentDescription,
  AgentToCoordinator,
  EngineCondition,
} from '../../../src/messages/agent-to-coordinator.js'
import { decodeCoordinatorMessage } from '../../../src/messages/codec.js'
import type { CoordinatorToAgent } from '../../../src/messages/coordinator-to-agent.js'
import { version } from '../../../src/version.js'
import { eventually } from '../../support/eventually.js'
import type { TestService } from './service.js'

export interface GatewayServer {
  readonly gateway: AgentGateway
  readonly server: Server
  /** `127.0.0.1:<port>`. */
  readonly host: string
}

interface Teardown {
  teardown(work: () => Promise<void>): void
}

export async function startGateway(
  t: Teardown,
  service: TestService,
  options: GatewayOptions = {},
): Promise<GatewayServer> {
  const gateway = new AgentGateway(service, service.log, options)
  // A new agent gets its desired state after placement has processed it.
  const follower = startPlacementFollower(service, service.log)
  const server = createServer((request, response) => {
    void gateway.handleRequest(request, response)
  })
  server.on('upgrade', (request, socket, head) => {
    gateway.handleUpgrade(request, socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    await follower.close()
    await gateway.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  // A TCP listener's address is an object.
  const { port } = server.address() as AddressInfo
  return { gateway, server, host: `127.0.0.1:${port}` }
}

export const runningCondition: EngineCondition = {
  engineState: 'running',
  engineError: null,
  heldRevision: 0,
  effectiveRevision: 0,
  lockedBecause: null,
}

export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export function describe(
  name: string,
  key: string,
  changes: Partial<AgentDescription> = {},
): AgentDescription {
  return {
    name,
    agentVersion: version,
    capabilities: ['report', 'deploy', 'command'],
    tags: [],
    coordinatorId: null,
    keyDigest: digestOf(key),
    engine: {
      host: '10.0.0.1',
      port: 6081,
      product: 'vinyl',
      version: '7.1.1',
      workingDirectory: null,
    },
    condition: runningCondition,
    ...changes,
  }
}

type Unsent<Message extends AgentToCoordinator = AgentToCoordinator> =
  Message extends AgentToCoordinator ? Omit<Message, 'sequence' | 'traceId'> : never

export interface LinkAgent {
  readonly socket: WebSocket
  /** All received messages, in order. */
  readonly received: readonly CoordinatorToAgent[]
  /** Code and reason, once closed. */
  readonly closed: () => { readonly code: number; readonly reason: string } | null
  say(message: Unsent, sequence?: number): void
  sendText(text: string): void
  /** The next message of this kind that `next` has not returned before. */
  next<Kind extends CoordinatorToAgent['kind']>(
    kind: Kind,
  ): Promise<Extract<CoordinatorToAgent, { kind: Kind }>>
  untilClosed(): Promise<{ readonly code: number; readonly reason: string }>
}

export const linkHeaders = {
  join: (token: string, name: string) => ({
    authorization: `Join ${token}`,
    'x-cachefleet-name': name,
  }),
  key: (key: string) => ({ authorization: `Agent ${key}` }),
}

/** Resolves with an open socket, before any hello; rejects with the status as its message. */
export async function dial(
  host: string,
  headers: Record<string, string>,
  protocols: readonly string[] = ['cachefleet.agent.v1'],
): Promise<LinkAgent> {
  const socket = new WebSocket(`ws://${host}/agent/v1`, [...protocols], {
    headers,
    perMessageDeflate: false,
  })
  const received: CoordinatorToAgent[] = []
  const taken = new Set<CoordinatorToAgent>()
  let sent = 0
  let closed: { code: number; reason: string } | null = null
  socket.on('message', (data: Buffer) => {
    received.push(decodeCoordinatorMessage(data.toString('utf8')))
  })
  socket.on('close', (code, reason) => (closed = { code, reason: reason.toString() }))
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
    socket.on('unexpected-response', (request, response) => {
      request.destroy()
      reject(new Error(String(response.statusCode)))
    })
  })
  return {
    socket,
    received,
    closed: () => closed,
    say: (message, sequence = sent + 1) => {
      sent = sequence
      socket.send(JSON.stringify({ traceId: 'trace-of-the-agent', ...message, sequence }))
    },
    sendText: (text) => {
      socket.send(text)
    },
    next: async (kind) => {
      const message = await eventually(`a message of kind ${kind}`, () =>
        received.find((one) => one.kind === kind && !taken.has(one)),
      )
      taken.add(message)
      // Found by its kind.
      return message as Extract<CoordinatorToAgent, { kind: typeof kind }>
    },
    untilClosed: () => eventually('the link is closed', () => closed),
  }
}

/** Enrols (with a token) or reconnects (without one) and waits for the welcome. */
export async function link(
  host: string,
  description: AgentDescription,
  credential: { readonly token?: string; readonly key: string },
): Promise<LinkAgent & { readonly agentId: number }> {
  const { token, key } = credential
  const headers =
    token === undefined ? linkHeaders.key(key) : linkHeaders.join(token, description.name)
  const agent = await dial(host, headers)
  agent.say({ kind: 'hello', ...description })
  const { agentId } = await agent.next('welcome')
  return { ...agent, agentId }
}

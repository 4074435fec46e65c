/** The coordinator side of the link for agent tests: a WebSocket server that speaks the messages, and the two HTTP routes. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { WebSocketServer, type WebSocket } from 'ws'
import { newTraceId } from '../../src/context.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import type {
  AgentDescription,
  AgentToCoordinator,
  Answer,
  ApplyReport,
  Drift,
  EngineCondition,
  Hello,
} from '../../src/messages/agent-to-coordinator.js'
import { decodeAgentMessage, encodeMessage } from '../../src/messages/codec.js'
import type { CoordinatorToAgent } from '../../src/messages/coordinator-to-agent.js'
import { agentLinkSubprotocol } from '../../src/messages/envelope.js'
import { eventually } from '../support/eventually.js'

interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

type Unnumbered<M = CoordinatorToAgent> = M extends CoordinatorToAgent
  ? Omit<M, 'sequence' | 'traceId'>
  : never

export interface CoordinatorEnd {
  readonly url: string
  /** Responses to upgrades and the content of welcomes; may be changed at any time. */
  readonly settings: {
    coordinatorId: string
    revision: number
    heartbeatMs: number
    /** Absent: the agent sends no samples. */
    statsIntervalMs?: number
    /** Returns the status that refuses an upgrade, or null to accept it. */
    admit: (authorization: string) => number | null
  }
  readonly received: AgentToCoordinator[]
  /** Number of WebSocket pings received. */
  readonly pings: number
  readonly authorizations: string[]
  readonly names: (string | undefined)[]
  readonly sourceRequests: string[]
  /** Bodies of PUT answers by instruction. */
  readonly putAnswers: Map<number, unknown>
  /** Makes a text available to agents; returns its SHA-256. */
  publish(text: string): string
  /** Sends a message; returns its sequence number. */
  send(message: Unnumbered, traceId?: string): number
  apply(revision: number, desired: DesiredEngine, traceId?: string): Promise<ApplyReport>
  ask(message: Unnumbered): Promise<Answer>
  hello(count?: number): Promise<Hello>
  condition(): EngineCondition | undefined
  description(): AgentDescription | undefined
  drifts(): Drift[]
  /** Sends a text that no codec produced. */
  sendRaw(text: string): void
  /** Stops reading the link, like a host that is gone. */
  mute(): void
  /** Resumes reading. */
  unmute(): void
  /** Closes the link and refuses new ones until `open`. */
  close(): Promise<void>
  open(): Promise<void>
}

export async function startCoordinatorEnd(t: TestEnd): Promise<CoordinatorEnd> {
  const end = new End()
  await end.open()
  t.teardown(() => end.close())
  return end
}

class End implements CoordinatorEnd {
  readonly settings: CoordinatorEnd['settings'] = {
    coordinatorId: 'coordinator-one',
    revision: 1,
    heartbeatMs: 1000,
    admit: () => null,
  }
  readonly received: AgentToCoordinator[] = []
  pings = 0
  readonly authorizations: string[] = []
  readonly names: (string | undefined)[] = []
  readonly sourceRequests: string[] = []
  readonly putAnswers = new Map<number, unknown>()
  readonly #sources = new Map<string, string>()
  readonly #sequences = new WeakMap<WebSocket, number>()
  readonly #links = new Set<WebSocket>()
  /** Resend instructions without a report, for an agent that reconnects. */
  readonly #untold = new Set<() => void>()
  #server: Server | null = null
  #port = 0
  #socket: WebSocket | null = null

  get url(): string {
    return `ws://127.0.0.1:${this.#port}`
  }

  publish(text: string): string {
    const sha = createHash('sha256').update(text).digest('hex')
    this.#sources.set(sha, text)
    return sha
  }

  send(message: Unnumbered, traceId: string = newTraceId()): number {
    const socket = this.#socket
    if (!socket) throw new Error('no agent is linked')
    const sequence = (this.#sequences.get(socket) ?? 0) + 1
    this.#sequences.set(socket, sequence)
    socket.send(encodeMessage({ ...message, sequence, traceId }))
    return sequence
  }

  async apply(revision: number, desired: DesiredEngine, traceId?: string): Promise<ApplyReport> {
    const from = this.received.length
    // An agent that reconnects after a stall of this process must not find a coordinator that forgot its revision.
    this.settings.revision = Math.max(this.settings.revision, revision)
    const instructions = new Set<number>()
    const tell = () => instructions.add(this.send({ kind: 'apply', revision, desired }, traceId))
    tell()
    this.#untold.add(tell)
    try {
      return (await eventually(`the report on revision ${revision}`, () =>
        this.received
          .slice(from)
          .find((one) => one.kind === 'applyReport' && instructions.has(one.instruction)),
      )) as ApplyReport // found by its kind
    } finally {
      this.#untold.delete(tell)
    }
  }

  async ask(message: Unnumbered): Promise<Answer> {
    const from = this.received.length
    const instruction = this.send(message)
    return eventually('the answer', () =>
      this.received
        .slice(from)
        .find((one) => one.kind === 'answer' && one.instruction === instruction),
    ) as Promise<Answer> // found by its kind
  }

  hello(count = 1): Promise<Hello> {
    return eventually(`hello ${count}`, () =>
      this.received.filter((message) => message.kind === 'hello').at(count - 1),
    )
  }

  condition(): EngineCondition | undefined {
    return this.received.findLast((message) => 'condition' in message)?.condition
  }

  description(): AgentDescription | undefined {
    return this.received.findLast(({ kind }) => kind === 'hello' || kind === 'fullState') as
      | AgentDescription
      | undefined // found by its kind
  }

  drifts(): Drift[] {
    return this.received.flatMap((message) => (message.kind === 'drift' ? [message.drift] : []))
  }

  sendRaw(text: string): void {
    this.#socket?.send(text)
  }

  mute(): void {
    this.#socket?.pause()
  }

  unmute(): void {
    this.#socket?.resume()
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    this.#socket = null
    for (const link of this.#links) link.terminate()
    this.#links.clear()
    if (!server) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const path = request.url ?? ''
      const sha = /^\/agent\/v1\/(?:sources|certificates)\/([0-9a-f]{64})$/.exec(path)?.[1]
      const answered = /^\/agent\/v1\/answers\/(\d+)$/.exec(path)?.[1]
      if (sha !== undefined) {
        this.sourceRequests.push(sha)
        const text = this.#sources.get(sha)
        response.writeHead(text === undefined ? 404 : 200).end(text ?? 'no such source')
      } else if (answered !== undefined && request.method === 'PUT') {
        void readBody(request).then((body) => {
          this.putAnswers.set(Number(answered), JSON.parse(body))
          response.writeHead(204).end()
        })
      } else response.writeHead(404).end()
    })
    const links = new WebSocketServer({
      noServer: true,
      handleProtocols: () => agentLinkSubprotocol,
    })
    server.on('upgrade', (request, socket, head) => {
      const authorization = request.headers.authorization ?? ''
      this.authorizations.push(authorization)
      this.names.push(request.headers['x-cachefleet-name']?.toString())
      const status = this.settings.admit(authorization)
      if (status === null)
        links.handleUpgrade(request, socket, head, (link) => {
          this.#take(link)
        })
      else socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port // listening on TCP
    this.#server = server
  }

  #take(link: WebSocket): void {
    this.#socket = link
    this.#links.add(link)
    link.on('error', () => undefined)
    link.on('ping', () => (this.pings += 1))
    link.on('message', (data: Buffer) => {
      const message = decodeAgentMessage(data.toString('utf8'))
      this.received.push(message)
      if (message.kind !== 'hello') return
      const { coordinatorId, revision, heartbeatMs, statsIntervalMs } = this.settings
      const told = { coordinatorId, heartbeatMs, statsIntervalMs, revision }
      this.send({ kind: 'welcome', agentId: 7, ...told })
      for (const tell of this.#untold) tell()
    })
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding was set
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Simulates a cache's management port: the server side of the protocol, with the messages, the single thread and the failures of the real
 * one, but without HTTP. Used for evaluation (`--engine simulate`, `--simulate N`) and for tests. An idle engine has no timers.
 */
import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { bootEngine, type BootOptions } from './boot-engine.js'
import type { EngineSecret } from './commands/call.js'
import { printPanic } from './commands/process.js'
import { keepDialing, type Dialer } from './dial-out.js'
import { loseChild, type EngineState, type ProbeResult } from './engine-state.js'
import type { FaultName, FaultPlan } from './faults.js'
import { createMemoryPair } from './memory-pair.js'
import { ManagerThread } from './manager-thread.js'
import { parseRelease, type EngineRelease } from './release.js'
import { fromBytes } from './reply-text.js'
import type { EngineRequest } from './request-reader.js'
import { Session } from './session.js'

export interface SimulatedEngineOptions extends BootOptions {
  /** The release to imitate, for example `6.0.17` or `vinyl-9.0.1`; default 7.1.1. */
  readonly version?: string
  /** The secret file's bytes; null or absent: no authentication; 'missing': the file cannot be opened. */
  readonly secret?: EngineSecret
  readonly clock?: () => number
  /** Number of command lines to keep in `journal`; default 0. */
  readonly journalLines?: number
}

interface Listening {
  readonly host: string
  readonly port: number
  /** Stops accepting connections and ends those accepted here. */
  readonly close: () => Promise<void>
}

export function createSimulatedEngine(options: SimulatedEngineOptions): SimulatedEngine {
  return new SimulatedEngine(options)
}

/** The real engine does not limit connections. */
const connectionLimit = 1000
/** Bytes of replies buffered per client, about as much as the kernel buffers for the real engine. */
const sendBufferBytes = 256 * 1024

export class SimulatedEngine {
  readonly #release: EngineRelease
  readonly #clock: () => number
  readonly #manager: ManagerThread
  readonly #sessions = new Set<Session>()
  /** Functions that close servers and dialers. */
  readonly #closers = new Set<() => void>()
  readonly #journal: string[] = []
  #lastPid = randomInt(1000, 1_000_000)
  #state: EngineState
  #secret: EngineSecret
  #isClosed = false

  constructor(private readonly options: SimulatedEngineOptions) {
    this.#release = parseRelease(options.version ?? '7.1.1')
    this.#clock = options.clock ?? Date.now
    this.#secret = options.secret ?? null
    this.#state = this.#boot()
    this.#manager = new ManagerThread({
      state: () => this.#state,
      clock: this.#clock,
      nextPid: this.#nextPid,
      die: () => {
        this.restartManager()
      },
      note: (request, command) => {
        this.#note(request, command)
      },
    })
  }

  /** The last command lines, oldest first, without here-documents and without the response to the challenge. */
  get journal(): readonly string[] {
    return this.#journal
  }

  get masterPid(): number {
    return this.#state.masterPid
  }

  /** Undefined while the child is stopped. */
  get childPid(): number | undefined {
    return this.#state.child?.pid
  }

  /** Opens an in-memory connection and returns the client's end. */
  connect(): Duplex {
    const [client, server] = createMemoryPair(sendBufferBytes)
    this.#accept(server)
    return client
  }

  /** Listens on a TCP port; port 0 selects a free one. */
  async listen(host = '127.0.0.1', port = 0): Promise<Listening> {
    const streams = new Set<Duplex>()
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      streams.add(socket)
      socket.once('close', () => streams.delete(socket))
      this.#accept(socket)
    })
    await listenOn(server, host, port)
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not a TCP port')
    const endAll = () => {
      this.#closers.delete(endAll)
      server.close()
      for (const stream of streams) stream.destroy()
    }
    this.#closers.add(endAll)
    return { host, port: address.port, close: () => closeServer(server, endAll) }
  }

  /** Connects to a listener as with `-M`, reconnects when the connection ends, and serves it. */
  dialOut(host: string, port: number): Dialer {
    const dialer = keepDialing(host, port, (socket) => {
      this.#accept(socket)
    })
    this.#closers.add(dialer.close)
    return dialer
  }

  /** Ends all connections, servers and timers. */
  close(): void {
    this.#isClosed = true
    this.#manager.stop()
    for (const end of this.#closers) end()
    this.#closers.clear()
    for (const session of this.#sessions) session.stream.destroy()
  }

  /** Sets the engine's only fault; null lifts it. */
  setFault(name: FaultName | null, plan: FaultPlan = {}): void {
    this.#manager.setFault(name, plan)
  }

  /** Rewrites the secret file: applies to the next authentication. */
  setSecret(secret: EngineSecret): void {
    this.#secret = secret
  }

  /** Sets the result of all probes; initially healthy. */
  setProbes(result: ProbeResult): void {
    this.#state.probes = result
  }

  /** Ends the child: bans and health overrides are lost, and the manager starts another. Returns false without a child. */
  killChild({ panic = false }: { readonly panic?: boolean } = {}): boolean {
    if (this.#state.child === undefined) return false
    const nowMs = this.#clock()
    if (panic) this.#state.panic = printPanic('killed', this.#release, nowMs)
    loseChild(this.#state, { nowMs, nextPid: this.#nextPid })
    this.#manager.noteChildEnd()
    return true
  }

  /** Restarts the manager: only the boot program remains, pids are new, connections close. */
  restartManager(): void {
    this.#manager.stop()
    for (const session of this.#sessions) session.close()
    this.#state = this.#boot()
  }

  #boot(): EngineState {
    const moment = { nowMs: this.#clock(), nextPid: this.#nextPid }
    return bootEngine(this.#release, this.options, moment)
  }

  readonly #nextPid = () => (this.#lastPid += 1 + randomInt(20))

  #accept(stream: Duplex): void {
    if (this.#isClosed || this.#sessions.size >= connectionLimit) {
      stream.on('error', () => undefined)
      stream.destroy()
      return
    }
    const setup = {
      secret: () => this.#secret,
      quoting: this.#release.quoting,
    }
    const session = new Session(stream, setup, (ready) => {
      this.#manager.enqueue(ready)
    })
    this.#sessions.add(session)
    stream.once('close', () => this.#sessions.delete(session))
    this.#manager.enqueue(session)
  }

  #note({ line }: EngineRequest, command: string): void {
    const limit = this.options.journalLines ?? 0
    if (limit <= 0) return
    const text = command === 'auth' ? 'auth' : fromBytes(line)
    this.#journal.push(text)
    if (this.#journal.length > limit) this.#journal.shift()
  }
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      server.on('error', () => undefined) // a failed accept is reported to its client
      resolve()
    })
  })
}

function closeServer(server: Server, end: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (!server.listening) {
      resolve()
      return
    }
    server.once('close', () => {
      resolve()
    })
    end()
  })
}

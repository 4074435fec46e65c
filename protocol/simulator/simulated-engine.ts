/**
 * A simulated cache's management port: the server side of the protocol with the real one's texts, its single thread and
 * its ways to fail, but without HTTP behind it. For evaluation (`--engine simulate`, `--simulate N`) and for tests.
 *
 * One engine is one manager: it serves its connections one command after the other, and a compile, a client that does
 * not read or a child that hangs block all of them. An idle engine has no timers.
 */
import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { cliStatus } from '../status.js'
import { answerRequest, loseChild, type EngineSecret } from './answer-request.js'
import { bootEngine } from './boot-engine.js'
import { refuseCompilation } from './commands/vcl-load.js'
import { printBanner, printPanic } from './commands/process.js'
import { keepDialing, type Dialer } from './dial-out.js'
import type { EngineState, ProbeResult } from './engine-state.js'
import {
  createFault,
  strikeCommand,
  strikeConnection,
  type Fault,
  type FaultName,
  type FaultPlan,
} from './faults.js'
import { parseRelease } from './release.js'
import { ReplyText } from './reply-text.js'
import type { EngineRequest } from './request-reader.js'
import { Session } from './session.js'
import { encodeOutgoing } from './spoiled-reply.js'

export interface SimulatedEngineOptions {
  /** The release whose texts it speaks; 7.1.1 unless told. */
  readonly version?: string
  /** The secret file's bytes; null (or nothing): no authentication; 'missing': the file cannot be opened. */
  readonly secret?: EngineSecret
  /** How long an accepted program's compile blocks the engine; 0 unless told. */
  readonly compileMs?: number
  /** Replies to a burst of commands come so late, as the real one's 44 ms; 0 unless told. */
  readonly burstDelayMs?: number
  /** Source of the active program `boot`; null starts with the child stopped and no program (`-f ''`). */
  readonly bootVcl?: string | null
  readonly storage?: readonly { readonly name: string; readonly kind: string }[]
  /** What debug.listen_address tells: address, blank, port. */
  readonly listenAddress?: string
  /** Parameters that cannot be set (`-r`). */
  readonly protectedParams?: readonly string[]
  /** Discarded programs that have served stay in the list, as with idle worker threads, until the child restarts. */
  readonly keepsDiscarded?: boolean
  /** Reads files for vcl.load and include; without it there are none. */
  readonly readVclFile?: (path: string) => string | undefined
  readonly clock?: () => number
  /** Keeps the last so many command lines in `journal`; none unless told. */
  readonly journalLines?: number
}

export interface Listening {
  readonly host: string
  readonly port: number
  /** Stops accepting and ends the connections. */
  close(): Promise<void>
}

export function createSimulatedEngine(options: SimulatedEngineOptions = {}): SimulatedEngine {
  return new SimulatedEngine(options)
}

/** Chosen by us: the real one has no limit of connections. */
const connectionLimit = 1000
/** Chosen by us: bytes of replies that wait for a client to read, about what the kernel holds for the real one. */
const sendBufferBytes = 256 * 1024

export class SimulatedEngine {
  readonly #options: SimulatedEngineOptions
  readonly #clock: () => number
  readonly #sessions = new Set<Session>()
  readonly #closers = new Set<() => void>()
  readonly #journal: string[] = []
  #lastPid = randomInt(1000, 1_000_000)
  #state: EngineState
  #secret: EngineSecret
  #fault: Fault | undefined
  /** Sessions with something to do, in the order it came. */
  #queue: Session[] = []
  #isServing = false
  #pause: Pause | undefined
  #isClosed = false

  constructor(options: SimulatedEngineOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#secret = options.secret ?? null
    this.#state = this.#boot()
  }

  /** The last command lines, oldest first, without here-documents; the answer to the challenge is left out. */
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

  /** The client's end of a new connection in memory. */
  connect(): Duplex {
    const [client, server] = duplexPair({ highWaterMark: sendBufferBytes })
    this.#accept(server)
    return client
  }

  /** Serves on a TCP port; port 0 takes a free one. */
  async listen(host = '127.0.0.1', port = 0): Promise<Listening> {
    const sessions = new Set<Session>()
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const session = this.#accept(socket)
      if (session === undefined) return
      sessions.add(session)
      socket.once('close', () => sessions.delete(session))
    })
    await listenOn(server, host, port)
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not a TCP port')
    const close = () =>
      new Promise<void>((resolve) => {
        this.#closers.delete(closeNow)
        server.close(() => {
          resolve()
        })
        for (const session of sessions) session.stream.destroy()
      })
    const closeNow = () => void close()
    this.#closers.add(closeNow)
    return { host, port: address.port, close }
  }

  /** Dials out as with `-M`, again and again, and serves whoever listens there. */
  dialOut(host: string, port: number): Dialer {
    const dialer = keepDialing(host, port, (socket) => void this.#accept(socket))
    this.#closers.add(dialer.close)
    return dialer
  }

  /** Ends all connections, servers and timers. */
  close(): void {
    this.#isClosed = true
    this.#cancelPause()
    this.#queue = []
    for (const close of this.#closers) close()
    this.#closers.clear()
    for (const session of this.#sessions) session.stream.destroy()
  }

  /** Sets the one trouble the engine has; null lifts it. */
  setFault(name: FaultName | null, plan?: FaultPlan): void {
    this.#fault = name === null ? undefined : createFault(name, plan)
    this.#serve()
  }

  /** The secret file is rewritten: the next authentication is judged by it. */
  setSecret(secret: EngineSecret): void {
    this.#secret = secret
  }

  /** How all probed backends look from now on; healthy at first. */
  setProbes(result: ProbeResult): void {
    this.#state.probes = result
  }

  /** The child ends: bans and health overrides are lost, and the manager starts another one. False without a child. */
  killChild({ panic = false }: { readonly panic?: boolean } = {}): boolean {
    if (this.#state.child === undefined) return false
    const nowMs = this.#clock()
    if (panic) this.#state.panic = printPanic('killed', this.#state.release, nowMs)
    loseChild(this.#state, { nowMs, nextPid: this.#nextPid })
    if (this.#pause?.isForChild === true) this.#endPause()
    return true
  }

  /** The manager ends and is started again: all is forgotten but the boot program, pids are new, connections close. */
  restartManager(): void {
    this.#cancelPause()
    this.#queue = []
    for (const session of this.#sessions) session.close()
    this.#state = this.#boot()
  }

  #boot(): EngineState {
    const { version = '7.1.1' } = this.#options
    return bootEngine(parseRelease(version), this.#options, {
      nowMs: this.#clock(),
      nextPid: this.#nextPid,
    })
  }

  readonly #nextPid = () => (this.#lastPid += 1 + randomInt(20))

  #accept(stream: Duplex): Session | undefined {
    if (this.#isClosed || this.#sessions.size >= connectionLimit) {
      stream.on('error', () => undefined)
      stream.destroy()
      return undefined
    }
    const session = new Session(
      stream,
      {
        secret: () => this.#secret,
        quoting: this.#state.release.quoting,
        burstDelayMs: this.#options.burstDelayMs ?? 0,
      },
      (ready) => {
        this.#enqueue(ready)
      },
    )
    this.#sessions.add(session)
    stream.once('close', () => this.#sessions.delete(session))
    this.#enqueue(session)
    return session
  }

  #enqueue(session: Session): void {
    if (!this.#queue.includes(session)) this.#queue.push(session)
    this.#serve()
  }

  get #isFrozen(): boolean {
    const fault = this.#fault
    if (fault?.name !== 'frozen') return false
    return fault.timesLeft < Infinity || (fault.commandsLeft === 0 && fault.onCommand === undefined)
  }

  /** The manager's loop: one session's input at a time, until something blocks it. */
  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    try {
      while (this.#pause === undefined && !this.#isFrozen) {
        const session = this.#queue.shift()
        if (session === undefined) break
        this.#serveSession(session)
      }
    } finally {
      this.#isServing = false
    }
  }

  #serveSession(session: Session): void {
    if (session.isGone || session.isSilent) return
    if (!session.isGreeted) {
      this.#greet(session)
      return
    }
    const hadInput = session.read()
    for (;;) {
      const request = session.nextRequest()
      if (request === undefined) break
      this.#execute(session, request)
      if (session.isSilent || session.isGone) return
      if (this.#pause !== undefined || session.held !== undefined) {
        this.#queue.unshift(session) // the rest of its input goes first
        return
      }
    }
    if (hadInput) this.#queue.push(session)
    else if (session.hasEnded) session.close()
  }

  #greet(session: Session): void {
    session.isGreeted = true
    if (strikeConnection(this.#fault)) {
      session.isSilent = true
      return
    }
    if (session.isAuthenticated) {
      const reply = new ReplyText()
      printBanner({ engine: this.#state, reply })
      this.#send(session, reply, undefined)
    } else this.#sendBytes(session, { bytes: session.makeChallenge(), then: 'go-on' })
    this.#queue.push(session)
  }

  #execute(session: Session, request: EngineRequest): void {
    const words = 'words' in request.parsed ? request.parsed.words : []
    const command = words[0] ?? ''
    const fault = strikeCommand(this.#fault, command) ? this.#fault : undefined
    if (fault?.name === 'frozen') {
      fault.timesLeft = 0
      session.held = request
      return
    }
    this.#note(request, command)
    if (fault?.name === 'close-before-command') {
      session.close()
      return
    }
    const reply = this.#answer(session, request, fault)
    if (this.#state.managerDied || fault?.name === 'manager-death') {
      this.restartManager()
      return
    }
    if (reply.delayMs <= 0) {
      this.#send(session, reply, fault?.name)
      return
    }
    const isForChild = reply.status === cliStatus.communication
    this.#startPause(reply.delayMs, isForChild, () => {
      this.#send(session, reply, fault?.name)
    })
  }

  /** What the engine says, and what a fault makes of it before it is said. */
  #answer(session: Session, request: EngineRequest, fault: Fault | undefined): ReplyText {
    const nowMs = this.#clock()
    const occasion = { caller: session, nowMs, nextPid: this.#nextPid }
    const reply = new ReplyText()
    switch (fault?.name) {
      case 'child-death':
      case 'child-death-on-load':
        loseChild(this.#state, occasion)
        return reply.refuse(cliStatus.communication, 'CLI communication error (hdr)')
      case 'compile-error':
        refuseCompilation(reply, 'Refused by a simulated fault.\n')
        return reply
      case 'auth-refused':
        reply.closes = true
        return reply.refuse(cliStatus.close, '')
      case 'empty-list':
        return reply
      default: {
        const answer = answerRequest(this.#state, request, occasion)
        const isSlow = fault?.name === 'slow-compile' && answer.status === cliStatus.ok
        if (isSlow) answer.delayMs += fault.delayMs
        return answer
      }
    }
  }

  #send(session: Session, reply: ReplyText, fault: FaultName | undefined): void {
    this.#sendBytes(session, encodeOutgoing(reply, fault))
  }

  /** The engine's writes block: a client that does not read stops the manager for everybody. */
  #sendBytes(session: Session, outgoing: Parameters<Session['send']>[0]): void {
    if (session.isGone || session.send(outgoing)) return
    const { stream } = session
    const end = () => {
      stream.off('drain', end).off('close', end)
      if (this.#pause === pause) this.#endPause()
    }
    this.#startPause(Infinity, false, () => undefined)
    const pause = this.#pause
    stream.once('drain', end).once('close', end)
  }

  #startPause(delayMs: number, isForChild: boolean, finish: () => void): void {
    const timer =
      delayMs === Infinity
        ? undefined
        : setTimeout(() => {
            this.#endPause()
          }, delayMs)
    this.#pause = { timer, isForChild, finish }
  }

  #endPause(): void {
    const pause = this.#pause
    this.#cancelPause()
    pause?.finish()
    this.#serve()
  }

  #cancelPause(): void {
    clearTimeout(this.#pause?.timer)
    this.#pause = undefined
  }

  #note({ line }: EngineRequest, command: string): void {
    const limit = this.#options.journalLines ?? 0
    if (limit <= 0) return
    const text = command === 'auth' ? 'auth' : Buffer.from(line, 'latin1').toString('utf8')
    this.#journal.push(text)
    if (this.#journal.length > limit) this.#journal.shift()
  }
}

/** What keeps the manager from its next command. */
interface Pause {
  readonly timer: NodeJS.Timeout | undefined
  /** It waits for a child that hangs: the child's death ends it. */
  readonly isForChild: boolean
  readonly finish: () => void
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      server.on('error', () => undefined) // failed accepts: the client sees them
      resolve()
    })
  })
}

/**
 * The single thread of a simulated engine's manager. It executes the sessions' commands one by one; anything that blocks it (a compile, a
 * client that does not read, a hanging child) blocks all sessions.
 */
import { cliStatus } from '../status.js'
import { answerRequest } from './answer-request.js'
import type { Occasion } from './commands/call.js'
import { printBanner } from './commands/process.js'
import { refuseCompilation } from './commands/vcl-load.js'
import { loseChild, type EngineState } from './engine-state.js'
import {
  createFault,
  strikeCommand,
  strikeConnection,
  type Fault,
  type FaultName,
  type FaultPlan,
} from './faults.js'
import { ReplyText } from './reply-text.js'
import type { EngineRequest } from './request-reader.js'
import type { Session } from './session.js'
import { encodeOutgoing, type Outgoing } from './spoiled-reply.js'

interface ManagerContext {
  readonly state: () => EngineState
  readonly clock: () => number
  readonly nextPid: () => number
  /** Called when a command has killed the manager. */
  readonly die: () => void
  /** Called before a command is executed. */
  readonly note: (request: EngineRequest, command: string) => void
}

/** A reason why the thread cannot execute its next command. */
interface Pause {
  readonly timer: NodeJS.Timeout | undefined
  /** True while it waits for a hanging child; the child's death ends the pause. */
  readonly isForChild: boolean
  readonly finish: () => void
}

export class ManagerThread {
  /** Sessions that need service, in order of arrival. */
  readonly #queue = new Set<Session>()
  #isServing = false
  #isFrozen = false
  #pause: Pause | undefined
  #fault: Fault | undefined

  constructor(private readonly context: ManagerContext) {}

  setFault(name: FaultName | null, plan: FaultPlan): void {
    this.#fault = name === null ? undefined : createFault(name, plan)
    const isAtOnce = (plan.afterCommands ?? 0) === 0 && plan.onCommand === undefined
    this.#isFrozen = name === 'frozen' && isAtOnce
    this.#serve()
  }

  /** Queues a session that needs service: to be greeted, read or closed. */
  enqueue(session: Session): void {
    this.#queue.add(session)
    this.#serve()
  }

  /** Called when the child has ended: resumes a thread that waits for it. */
  noteChildEnd(): void {
    if (this.#pause?.isForChild === true) this.#endPause()
  }

  /** Drops the current and all queued work. */
  stop(): void {
    this.#cancelPause()
    this.#queue.clear()
  }

  #serve(): void {
    if (this.#isServing) return
    this.#isServing = true
    try {
      while (this.#mayGoOn()) {
        const [session] = this.#queue
        if (session === undefined) break
        this.#queue.delete(session)
        this.#serveSession(session)
      }
    } finally {
      this.#isServing = false
    }
  }

  #mayGoOn(): boolean {
    return this.#pause === undefined && !this.#isFrozen
  }

  #serveSession(session: Session): void {
    if (!session.isServed()) return
    if (!session.isGreeted) {
      this.#greet(session)
      return
    }
    // Requests that were read earlier but not executed go first.
    const hadInput = session.hasPending || session.read()
    session.hasPending = true
    for (let request = session.nextRequest(); request; request = session.nextRequest()) {
      this.#execute(session, request)
      if (!session.isServed()) return
      if (!this.#mayGoOn()) {
        this.#queueFirst(session)
        return
      }
    }
    session.hasPending = false
    if (hadInput) this.#queue.add(session)
    else if (session.hasEnded) session.close()
  }

  /** The rest of a session's input is executed before that of other sessions. */
  #queueFirst(session: Session): void {
    const others = [...this.#queue].filter((other) => other !== session)
    this.#queue.clear()
    for (const each of [session, ...others]) this.#queue.add(each)
  }

  #greet(session: Session): void {
    session.isGreeted = true
    if (strikeConnection(this.#fault)) {
      session.isSilent = true
      return
    }
    this.#queue.add(session)
    if (session.isAuthenticated) {
      const reply = new ReplyText()
      printBanner({ engine: this.context.state(), reply })
      this.#send(session, encodeOutgoing(reply, undefined))
    } else this.#send(session, { bytes: session.makeChallenge(), then: 'go-on' })
  }

  #execute(session: Session, request: EngineRequest): void {
    const command = 'words' in request.parsed ? (request.parsed.words[0] ?? '') : ''
    const fault = strikeCommand(this.#fault, command) ? this.#fault : undefined
    if (fault?.name === 'frozen') {
      this.#isFrozen = true
      session.held = request
      return
    }
    const { context } = this
    context.note(request, command)
    if (fault?.name === 'close-before-command') {
      session.close()
      return
    }
    const reply = this.#answer(session, request, fault)
    if (context.state().managerDied || fault?.name === 'manager-death') {
      context.die()
      return
    }
    const send = () => {
      this.#send(session, encodeOutgoing(reply, fault?.name))
    }
    if (reply.delayMs <= 0) send()
    else this.#startPause(reply, send)
  }

  /** The engine's reply, with the effects of a fault. */
  #answer(session: Session, request: EngineRequest, fault: Fault | undefined): ReplyText {
    const { state, clock, nextPid } = this.context
    const occasion = { caller: session, nowMs: clock(), nextPid }
    const feigned = fault === undefined ? undefined : feignReply(fault.name, state(), occasion)
    if (feigned !== undefined) return feigned
    const reply = answerRequest(state(), request, occasion)
    if (fault?.name === 'slow-compile' && reply.status === cliStatus.ok)
      reply.delayMs += fault.delayMs
    return reply
  }

  /** The engine's writes block: a client that does not read stops the manager for all sessions. */
  #send(session: Session, outgoing: Outgoing): void {
    if (session.isGone || session.send(outgoing)) return
    const { stream } = session
    this.#startPause({ delayMs: Infinity, status: 0 }, () => undefined)
    const pause = this.#pause
    const end = () => {
      stream.off('drain', end).off('close', end)
      if (this.#pause === pause) this.#endPause()
    }
    stream.once('drain', end).once('close', end)
  }

  #startPause(
    { delayMs, status }: Pick<ReplyText, 'delayMs' | 'status'>,
    finish: () => void,
  ): void {
    const end = () => {
      this.#endPause()
    }
    const timer = delayMs === Infinity ? undefined : setTimeout(end, delayMs)
    this.#pause = { timer, isForChild: status === cliStatus.communication, finish }
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
}

/** Replies of faults that prevent the execution of the command. */
function feignReply(
  fault: FaultName,
  state: EngineState,
  occasion: Occasion,
): ReplyText | undefined {
  const reply = new ReplyText()
  if (fault === 'child-death' || fault === 'child-death-on-load') {
    loseChild(state, occasion)
    return reply.refuse(cliStatus.communication, 'CLI communication error (hdr)')
  }
  if (fault === 'compile-error') {
    refuseCompilation(reply, 'Refused by a simulated fault.\n')
    return reply
  }
  if (fault === 'commit-refused')
    return reply.refuse(cliStatus.cannot, 'Refused by a simulated fault.\n')
  if (fault === 'auth-refused') {
    reply.closes = true
    return reply.refuse(cliStatus.close, '')
  }
  return fault === 'empty-list' || fault === 'manager-death' ? reply : undefined
}

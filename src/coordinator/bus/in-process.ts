/** The bus of a single coordinator process: no network, the same semantics (values cloned, delivered later, at most once). */
import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FleetError } from '../../errors.js'
import {
  hasBytes,
  requireFitting,
  type Bus,
  type RequestSubject,
  type Subscription,
} from './bus.js'
import { Waiting } from './waiting.js'

type Receive = (value: unknown) => void

/** The responder of a subject. One object without closures, because each agent has three. */
class Responder<Asked, Answer> implements Subscription {
  readonly #all: Map<string, Answering>
  readonly #name: string
  readonly #isAsked: RequestSubject<Asked, Answer>['isAsked']
  readonly #answer: (asked: Asked) => Promise<Answer>

  constructor(
    all: Map<string, Answering>,
    { name, isAsked }: RequestSubject<Asked, Answer>,
    answer: (asked: Asked) => Promise<Answer>,
  ) {
    this.#all = all
    this.#name = name
    this.#isAsked = isAsked
    this.#answer = answer
  }

  respond(value: unknown): Promise<unknown> {
    return this.#answer(requireFitting(this.#isAsked, value))
  }

  close(): void {
    if (this.#all.get(this.#name) === this) this.#all.delete(this.#name)
  }
}

type Answering = Pick<Responder<never, never>, 'respond'>

export function createInProcessBus(): Bus {
  const receivers = new Map<string, Set<Receive>>()
  const responders = new Map<string, Answering>()
  const waiting = new Waiting()
  /** As over a network, receivers do not run inside the sender's transaction. */
  const outside = new AsyncResource('cachefleet.bus')
  let closed = false

  const requireOpen = (): void => {
    if (closed) throw closedError()
  }

  return {
    isShared: false,

    // After close the message is dropped, like any message without a receiver.
    publish({ name }, value) {
      const copy = structuredClone(value)
      setImmediate(() => {
        const all = receivers.get(name) ?? new Set<Receive>()
        for (const receive of [...all]) if (all.has(receive)) receive(structuredClone(copy))
      })
    },

    subscribe({ name, isHint }, receive) {
      requireOpen()
      const received = (value: unknown): void => {
        if (isHint(value)) outside.runInAsyncScope(receive, undefined, value)
      }
      const all = receivers.get(name) ?? new Set<Receive>()
      receivers.set(name, all.add(received))
      return {
        close: () => {
          all.delete(received)
          if (all.size === 0 && receivers.get(name) === all) receivers.delete(name)
        },
      }
    },

    respond(subject, answer) {
      requireOpen()
      const { name } = subject
      if (responders.has(name)) throw new Error(`the bus has a responder of ${name} already`)
      const responder = new Responder(responders, subject, answer)
      responders.set(name, responder)
      return responder
    },

    async request({ name, isAnswer }, value, timeoutMs) {
      requireOpen()
      const copy = copyValue(value)
      const answer = await waiting.waitFor(
        nextTurn().then(() => outside.runInAsyncScope(() => ask(responders.get(name), copy))),
        timeoutMs,
      )
      return requireFitting(isAnswer, answer)
    },

    async check() {
      await Promise.resolve()
      requireOpen()
    },

    close() {
      closed = true
      receivers.clear()
      responders.clear()
      waiting.endAll(closedError())
      return Promise.resolve()
    },
  }
}

async function ask(responder: Answering | undefined, value: unknown): Promise<unknown> {
  if (responder === undefined)
    throw new FleetError('unavailable', 'agent', 'no answer: the agent is not connected')
  return copyValue(await responder.respond(value))
}

function copyValue(value: unknown): unknown {
  if (!hasBytes(value)) return structuredClone(value)
  const { bytes, ...others } = value
  return { ...structuredClone(others), bytes }
}

function closedError(): FleetError {
  return new FleetError('unavailable', 'store', 'the bus is closed: the coordinator is stopping')
}

/** The questions that one session waits for: each ends once, with the agent's answer, in time or not. */
import type { Answer } from '../../messages/agent-to-coordinator.js'
import type { InstructionReply } from '../state-service/agents/instruct.js'

/** Chosen by us: an agent runs one command at a time, more would only wait there. */
const pendingLimit = 64

/** Of an answer that came by PUT to another process; without a value: is it waited for? */
export interface OfferedAnswer {
  readonly sequence: number
  readonly value?: unknown
}

interface Pending {
  readonly settle: (reply: InstructionReply) => void
  answer: Answer | null
  /** What came by PUT, which may be before or after the answer. */
  value: { readonly json: unknown } | null
}

export class PendingAnswers {
  readonly #pending = new Map<number, Pending>()

  /** Resolves always. `sequence` null: the question could not be sent. */
  wait(sequence: number | null, timeoutMs: number): Promise<InstructionReply> {
    if (sequence === null) return Promise.resolve(lost('its link is closing'))
    if (this.#pending.size >= pendingLimit)
      return Promise.resolve(
        lost(`${pendingLimit} questions wait for this agent already; try again later`),
      )
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        settle({ result: 'timed-out', value: null, error: null })
      }, timeoutMs)
      const settle = (reply: InstructionReply): void => {
        clearTimeout(timer)
        this.#pending.delete(sequence)
        resolve(reply)
      }
      this.#pending.set(sequence, { settle, answer: null, value: null })
    })
  }

  isWaitedFor(sequence: number): boolean {
    return this.#pending.has(sequence)
  }

  answer(answer: Answer): void {
    const pending = this.#pending.get(answer.instruction)
    if (!pending) return
    pending.answer = answer
    settleWhole(pending)
  }

  /** Answers false when nobody waits for it (any more). */
  putValue(sequence: number, json: unknown): boolean {
    const pending = this.#pending.get(sequence)
    if (!pending) return false
    pending.value = { json }
    settleWhole(pending)
    return true
  }

  /** Answers whether it is, or was, waited for. */
  takeOffered(offered: OfferedAnswer): boolean {
    const { sequence } = offered
    return 'value' in offered ? this.putValue(sequence, offered.value) : this.isWaitedFor(sequence)
  }

  endAll(reason: string): void {
    for (const pending of [...this.#pending.values()]) pending.settle(lost(reason))
  }
}

function settleWhole({ answer, value, settle }: Pending): void {
  if (answer === null) return
  const { result, error } = answer
  if (!answer.sentByPut || result !== 'done') settle({ result, error, value: answer.value })
  else if (value !== null) settle({ result, error, value: value.json })
}

function lost(error: string): InstructionReply {
  return { result: 'lost', value: null, error }
}

/** The questions that one session waits for: each ends once, with the agent's answer, in time or not. */
import type { Answer } from '../../messages/agent-to-coordinator.js'
import { judgeAnswer } from '../../messages/answers.js'
import { MalformedMessage } from '../../messages/codec.js'
import type { Question } from '../../messages/coordinator-to-agent.js'
import type { InstructionReply, OfferedAnswer } from '../bus/subjects.js'

/** Chosen by us: an agent runs one command at a time, more would only wait there. */
const pendingLimit = 64

interface Pending {
  readonly question: Question
  readonly settle: (reply: InstructionReply) => void
  answer: Answer | null
  /** What came by PUT, which may be before or after the answer. */
  value: { readonly json: unknown } | null
}

export interface Wait {
  readonly question: Question
  readonly timeoutMs: number
}

export class PendingAnswers {
  readonly #pending = new Map<number, Pending>()
  readonly #endLink: (reason: string) => void

  /** `endLink`: for an agent whose answer has not the form of what was asked; it is to end all. */
  constructor(endLink: (reason: string) => void) {
    this.#endLink = endLink
  }

  /** Resolves always. `sequence` null: the question could not be sent. */
  wait(sequence: number | null, { question, timeoutMs }: Wait): Promise<InstructionReply> {
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
      this.#pending.set(sequence, { question, settle, answer: null, value: null })
    })
  }

  isWaitedFor(sequence: number): boolean {
    return this.#pending.has(sequence)
  }

  answer(answer: Answer): void {
    const pending = this.#pending.get(answer.instruction)
    if (!pending) return
    pending.answer = answer
    this.#settleWhole(pending)
  }

  /** Answers false when nobody waits for it (any more). */
  putValue(sequence: number, json: unknown): boolean {
    const pending = this.#pending.get(sequence)
    if (!pending) return false
    pending.value = { json }
    this.#settleWhole(pending)
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

  #settleWhole({ question, answer, value, settle }: Pending): void {
    if (answer === null) return
    const { result, error, sentByPut } = answer
    if (result !== 'done') settle({ result, error, value: null })
    else if (!sentByPut || value !== null) {
      const judged = this.#judge(question, sentByPut ? value?.json : answer.value)
      if (judged) settle({ result, error, ...judged })
    }
  }

  #judge(question: Question, value: unknown): { readonly value: unknown } | null {
    try {
      return { value: judgeAnswer(question, value) }
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error
      this.#endLink(error.message)
      return null
    }
  }
}

function lost(error: string): InstructionReply {
  return { result: 'lost', value: null, error }
}

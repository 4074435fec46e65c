/** Pending questions of one session: each ends exactly once, with the agent's answer or a timeout. */
import { JsonExcess } from '../../json-parts.js'
import { FleetError } from '../../errors.js'
import type { Answer } from '../../messages/agent-to-coordinator.js'
import { judgeAnswer, judgeInSteps, type AskedQuestion } from '../../messages/answers.js'
import { MalformedMessage } from '../../messages/codec.js'
import { runInSteps } from '../../in-steps.js'
import type { InstructionReply, OfferedAnswer } from '../bus/subjects.js'

/** An agent runs one command at a time; more would only queue there. */
const pendingLimit = 64

interface Pending {
  readonly question: AskedQuestion
  readonly settle: (reply: InstructionReply) => void
  answer: Answer | null
  /** Validated body of the PUT, which may arrive before or after the answer. */
  bytes: Buffer | null
}

interface Wait {
  readonly question: AskedQuestion
  readonly timeoutMs: number
}

export class PendingAnswers {
  readonly #pending = new Map<number, Pending>()
  readonly #endLink: (reason: string) => void

  /** `endLink` is called when an answer does not match the question; it must end all questions. */
  constructor(endLink: (reason: string) => void) {
    this.#endLink = endLink
  }

  /** Always resolves. `sequence` null: the question could not be sent. */
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
      this.#pending.set(sequence, { question, settle, answer: null, bytes: null })
    })
  }

  answer(answer: Answer): void {
    const pending = this.#pending.get(answer.instruction)
    if (!pending) return
    pending.answer = answer
    this.#settleWhole(pending)
  }

  /** Returns true if the answer is or was expected. Rejects with FleetError if it is too large or not JSON. */
  async takeOffered({ sequence, bytes }: OfferedAnswer): Promise<boolean> {
    const pending = this.#pending.get(sequence)
    if (!pending || bytes === undefined || pending.bytes !== null) return pending !== undefined
    try {
      await runInSteps(judgeInSteps(pending.question, bytes))
      pending.bytes = bytes
      this.#settleWhole(pending)
    } catch (error) {
      this.#endLinkOr(toRefusal(error))
    }
    return true
  }

  endAll(reason: string): void {
    for (const pending of [...this.#pending.values()]) pending.settle(lost(reason))
  }

  #settleWhole({ question, answer, bytes, settle }: Pending): void {
    if (answer === null) return
    const { result, error, sentByPut } = answer
    if (result !== 'done') settle({ result, error, value: null })
    else if (!sentByPut) this.#settleJudged(question, answer, settle)
    else if (bytes !== null) settle({ result, error, value: null, bytes })
  }

  #settleJudged(
    question: AskedQuestion,
    { result, error, value }: Answer,
    settle: Pending['settle'],
  ): void {
    try {
      settle({ result, error, value: judgeAnswer(question, value) })
    } catch (error) {
      this.#endLinkOr(error)
    }
  }

  #endLinkOr(error: unknown): void {
    if (!(error instanceof MalformedMessage)) throw error
    this.#endLink(error.message)
  }
}

function toRefusal(error: unknown): unknown {
  if (error instanceof JsonExcess)
    return new FleetError('too-large', 'body', `the answer ${error.message}`)
  // The parser's own message quotes the answer.
  if (error instanceof SyntaxError) return new FleetError('invalid', 'body', 'the body is not JSON')
  return error
}

function lost(error: string): InstructionReply {
  return { result: 'lost', value: null, error }
}

/** Carries out calls that arrive within some milliseconds together, one set at a time; each caller gets its own result. */
import { pauseFor } from './pause.js'

interface GatheredCallsOptions<Call, Answer> {
  /** How long a call waits for others. */
  readonly waitMs: number
  /** Calls per set. */
  readonly most: number
  /** Returns one answer per call, in their order. If it rejects, all calls of the set reject. */
  readonly carryOut: (calls: readonly Call[]) => Promise<readonly Answer[]>
}

interface Waiting<Call, Answer> {
  readonly call: Call
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export function gatherCalls<Call, Answer>({
  waitMs,
  most,
  carryOut,
}: GatheredCallsOptions<Call, Answer>): (call: Call) => Promise<Answer> {
  const waiting: Waiting<Call, Answer>[] = []
  let isRunning = false
  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
      if (isRunning) return
      isRunning = true
      void runSets() // never rejects
    })

  async function runSets(): Promise<void> {
    while (waiting.length > 0) {
      if (waiting.length < most) await pauseFor(waitMs)
      await runSet(waiting.splice(0, most))
    }
    isRunning = false
  }

  async function runSet(set: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      const answers = await carryOut(set.map(({ call }) => call))
      if (answers.length !== set.length)
        throw new Error(`${answers.length} answers came for ${set.length} calls`)
      for (const [at, answer] of answers.entries()) set[at]?.resolve(answer)
    } catch (error) {
      for (const { reject } of set) reject(error)
    }
  }
}

/** Counts the messages of one link as they come; of those that are missing the agent is asked for its full state, once. */

interface Taken {
  /** False: it came before. */
  readonly isNew: boolean
  /** Set when the full state is to be asked for. */
  readonly missing: { readonly expected: number; readonly sequence: number } | null
}

export class ReceivedSequence {
  #last = 0
  #isAsked = false

  begin(sequence: number): void {
    this.#last = sequence
  }

  /** A message that is not read. */
  skip(): void {
    this.#last += 1
  }

  take(sequence: number): Taken {
    const expected = this.#last + 1
    const isMissing = sequence !== expected && !this.#isAsked
    if (isMissing) this.#isAsked = true
    const isNew = sequence >= expected
    if (isNew) this.#last = sequence
    return { isNew, missing: isMissing ? { expected, sequence } : null }
  }

  fullStateCame(): void {
    this.#isAsked = false
  }
}

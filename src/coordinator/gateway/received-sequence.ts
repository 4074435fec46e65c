/** Tracks the sequence of one link's messages; after a gap the agent is asked for its full state once. */

interface Taken {
  /** False for a repeated message. */
  readonly isNew: boolean
  /** Set if the full state must be requested. */
  readonly missing: { readonly expected: number; readonly sequence: number } | null
}

export class ReceivedSequence {
  #last = 0
  #isAsked = false

  begin(sequence: number): void {
    this.#last = sequence
  }

  /** Counts a message that is ignored. */
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

/** Remembers the standing of a cache as last sent to its agent, so that it is sent again only when it differs. */

export interface Standing {
  readonly draining: boolean
  /** The agent missed invalidations and has not caught up. */
  readonly behind: boolean
}

export class SentStanding {
  #sent: Standing = { draining: false, behind: false }
  readonly #send: (standing: Standing) => void

  constructor(send: (standing: Standing) => void) {
    this.#send = send
  }

  /** Sent with the welcome. */
  begin(standing: Standing): void {
    this.#sent = standing
  }

  update(change: Partial<Standing>): void {
    const standing = { ...this.#sent, ...change }
    const { draining, behind } = this.#sent
    if (standing.draining === draining && standing.behind === behind) return
    this.#sent = standing
    this.#send(standing)
  }
}

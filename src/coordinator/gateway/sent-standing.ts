/** What an agent was told of its cache's standing, so that it is told again only when that differs. */

export interface Standing {
  readonly draining: boolean
  /** It missed invalidations and has not caught up. */
  readonly behind: boolean
}

export class SentStanding {
  #sent: Standing = { draining: false, behind: false }
  readonly #send: (standing: Standing) => void

  constructor(send: (standing: Standing) => void) {
    this.#send = send
  }

  /** By the welcome. */
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

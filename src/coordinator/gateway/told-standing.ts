/** What an agent was told of its cache's standing, so that it is told again only when that differs. */

export interface Standing {
  readonly draining: boolean
  /** It missed invalidations and has not caught up. */
  readonly behind: boolean
}

export class ToldStanding {
  #told: Standing = { draining: false, behind: false }
  readonly #send: (standing: Standing) => void

  constructor(send: (standing: Standing) => void) {
    this.#send = send
  }

  /** By the welcome. */
  begin(standing: Standing): void {
    this.#told = standing
  }

  tell(change: Partial<Standing>): void {
    const standing = { ...this.#told, ...change }
    const { draining, behind } = this.#told
    if (standing.draining === draining && standing.behind === behind) return
    this.#told = standing
    this.#send(standing)
  }
}

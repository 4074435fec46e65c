/** Tracks pending promises, each with a time limit, that can all be ended at once. */
import { FleetError } from '../../errors.js'
import { waitAtMost } from '../../runtime/pause.js'

export class Waiting {
  readonly #rejects = new Set<(reason: Error) => void>()

  /** Settles as the work does; rejects with FleetError 'timed-out' after `timeoutMs`, or with the reason of `endAll`. */
  async waitFor<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
    let end: (reason: Error) => void = () => undefined
    const ended = new Promise<never>((_resolve, reject) => (end = reject))
    this.#rejects.add(end)
    try {
      return await waitAtMost(timeoutMs, Promise.race([work, ended]), () => {
        throw new FleetError('timed-out', 'agent', `no answer within ${timeoutMs} ms`)
      })
    } finally {
      this.#rejects.delete(end)
    }
  }

  endAll(reason: Error): void {
    for (const reject of [...this.#rejects]) reject(reason)
  }
}

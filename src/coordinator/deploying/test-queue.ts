/** Runs tests one after the other for each organization and limits how many may wait: each run keeps a host busy. */
import { FleetError } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'

export const maxWaiting = 10
const retryAfterSeconds = 60

export class TestQueue {
  readonly #semaphores = new Map<number | null, Semaphore>()

  /** Throws 'limited'. */
  async run<T>(organization: number | null, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#semaphores.get(organization) ?? new Semaphore({ maxWaiting, refuse })
    this.#semaphores.set(organization, semaphore)
    try {
      return await semaphore.run(work)
    } finally {
      if (semaphore.isIdle) this.#semaphores.delete(organization)
    }
  }
}

function refuse(): FleetError {
  return new FleetError(
    'limited',
    'deploy',
    `tests of ${maxWaiting} deploys and checks of this organization wait already; try again when these have ended`,
    { retryAfterSeconds },
  )
}

/** What the two processes of the API benchmark agree on. */

/** Agents in the store unless told: ids from 1. */
export const fleetSize = 1_000
/** Of the fleet, how many bear the tag `rack` beside the three that all bear. */
export const rackSize = 100

/** From the server, at its start and after each order. */
export interface ServerReady {
  readonly base: string
  /** The longest time that its event loop was held since the last one. */
  readonly heldMs: number
}

/** To the server: answers of the real calls, which the constant ones give from now on. */
export interface ConstantPayloads {
  readonly one: unknown
  readonly list: readonly unknown[]
}

/** Constants and messages shared by the two processes of the API benchmark. */

/** Agents in the store by default: ids from 1. */
export const fleetSize = 1_000
/** How many agents have the tag `rack` besides the three tags of all. */
export const rackSize = 100

/** From the server, at its start and after each order. */
export interface ServerReady {
  readonly base: string
  /** The longest block of its event loop since the last one. */
  readonly heldMs: number
}

/** To the server: answers of the real calls, to be returned by the constant ones from now on. */
export interface ConstantPayloads {
  readonly one: unknown
  readonly list: readonly unknown[]
}

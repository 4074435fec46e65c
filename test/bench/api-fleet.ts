/** What the two processes of the API benchmark agree on. */

/** Agents in the store: ids from 1. */
export const fleetSize = 1_000

/** From the server, at its start and after each order. */
export interface ServerReady {
  readonly base: string
}

/** To the server: answers of the real calls, which the constant ones give from now on. */
export interface ConstantPayloads {
  readonly one: unknown
  readonly list: readonly unknown[]
}

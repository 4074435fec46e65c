/** Which of several coordinators an agent connects to: one after the other, starting at one chosen by the agent's name. */
import { createHash } from 'node:crypto'
import type { CoordinatorAddress } from './coordinator-http.js'

/**
 * `url`: one URL, or several separated by commas, of coordinators that share a store. An agent picks its first
 * by its name, which spreads a fleet, and moves to the next when a link fails or ends.
 */
export function spreadAddress(
  { url, ...trust }: CoordinatorAddress,
  agentName: string,
): CoordinatorAddress {
  const urls = url.split(',')
  let at = createHash('sha256').update(agentName).digest().readUInt32BE(0) % urls.length
  return {
    ...trust,
    get url() {
      return urls[at] ?? url
    },
    moveOn: () => {
      at = (at + 1) % urls.length
    },
  }
}

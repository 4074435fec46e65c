/** Which of several coordinators an agent connects to: one after the other, beginning where its name says. */
import { createHash } from 'node:crypto'
import type { CoordinatorAddress } from './coordinator-http.js'

/**
 * `url`: one, or several separated by commas, of coordinators that share a store. Chosen by us: where an agent begins follows
 * from its name, so that a fleet is spread; it goes on to the next when a link ends or is not made.
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
    turn: () => {
      at = (at + 1) % urls.length
    },
  }
}

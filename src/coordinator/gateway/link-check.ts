/**
 * Ends the links that count no longer, by the store, because hints of other coordinators may be lost: agents that were
 * deleted or taken over, and those that have a newer link at another coordinator.
 */
import type { Logger } from 'pino'
import { findStaleLinks } from '../reports/agent-links.js'
import type { StateService } from '../service.js'
import type { AgentSession } from './agent-session.js'
import { closeCodes } from './close-codes.js'

export interface LinkCheck {
  stop(): void
}

/** A deleted agent's link ends within 5 s (choices: 4). */
const everyMs = 3000

export function startLinkCheck(
  service: StateService,
  log: Logger,
  sessions: ReadonlyMap<number, AgentSession>,
): LinkCheck {
  let isRunning = false
  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void check().finally(() => (isRunning = false)) // never rejects
  }, everyMs)
  return {
    stop: () => {
      clearInterval(timer)
    },
  }

  async function check(): Promise<void> {
    const live = [...sessions].filter(([, session]) => session.isLive)
    const held = live.map(([agentId, { keyDigest, linkId }]) => ({ agentId, keyDigest, linkId }))
    try {
      const stale = new Set(await findStaleLinks(service, held))
      for (const [agentId, session] of live)
        if (stale.has(agentId))
          session.end(closeCodes.refused, 'this agent was deleted, taken over or linked elsewhere')
    } catch (error) {
      log.debug({ err: error }, 'links cannot be compared with the store')
    }
  }
}

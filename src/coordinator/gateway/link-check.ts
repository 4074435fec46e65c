/** Ends links that are no longer valid. */
import type { Logger } from 'pino'
import { startLoop, type Loop } from '../../runtime/loop.js'
import { findStaleLinks } from '../reports/agent-links.js'
import { missedHeartbeats } from '../reports/heartbeat.js'
import type { StateService } from '../service.js'
import type { AgentSession } from './agent-session.js'
import { closeCodes } from './close-codes.js'

/** A deleted agent's link ends within 5 s (docs/behaviour.md, Enrolment). */
const everyMs = 3000

/**
 * Checks the store for agents that were deleted, taken over, or connected to another coordinator, because hints of other
 * coordinators may be lost.
 */
export function startLinkCheck(
  service: StateService,
  log: Logger,
  sessions: ReadonlyMap<number, AgentSession>,
): Loop {
  return startLoop({
    log,
    everyMs,
    trouble: 'links cannot be compared with the store',
    pass: async () => {
      const live = [...sessions].filter(([, session]) => session.isLive)
      const held = live.map(([agentId, { keyDigest, linkId }]) => ({ agentId, keyDigest, linkId }))
      const stale = new Set(await findStaleLinks(service, held))
      for (const [agentId, session] of live)
        if (stale.has(agentId))
          session.end(closeCodes.refused, 'this agent was deleted, taken over or linked elsewhere')
    },
  })
}

/** Ends half-open links, whose agent's host disappeared without closing the connection. */
export function startSilenceCheck(
  log: Logger,
  heartbeatMs: number,
  sessions: ReadonlyMap<number, AgentSession>,
): Loop {
  return startLoop({
    log,
    everyMs: heartbeatMs,
    trouble: 'silent links cannot be cut off',
    pass: () => {
      const silentSince = performance.now() - (missedHeartbeats + 1) * heartbeatMs
      for (const session of sessions.values())
        if (session.lastReceivedAtMs < silentSince)
          session.cutOff('no message arrived for four heartbeats')
    },
  })
}

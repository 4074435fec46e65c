/**
 * Marks agents Down that missed three heartbeats, by the time in the store. After its own start, a store outage or a pause of
 * this process, the coordinator waits for three heartbeats first (docs/behaviour.md, Mass loss). Only one of several coordinators
 * does this at a time.
 */
import type { Logger } from 'pino'
import { markSilentAgentsDown, missedHeartbeats } from '../reports/heartbeat.js'
import type { StateService } from '../service.js'
import { startLoop } from '../../runtime/loop.js'

interface Liveness {
  /** One check; the loop runs one every heartbeat. Never rejects. */
  check(): Promise<void>
  close(): Promise<void>
}

/** `flush` writes the heartbeats that came and wait to be written: their agents are not silent. */
export function createLiveness(
  service: StateService,
  log: Logger,
  flush: () => Promise<void>,
): Liveness {
  const { heartbeatMs } = service.settings
  const graceMs = missedHeartbeats * heartbeatMs
  let graceUntil = service.now() + graceMs
  let lastCheckAt = service.now()
  let isOut = false
  const trouble = 'silent agents cannot be called Down'
  const loop = startLoop({ log, trouble, everyMs: heartbeatMs, pass: check })
  return { check, close: () => loop.close() }

  async function check(): Promise<void> {
    const now = service.now()
    const wasPaused = now - lastCheckAt > 2 * heartbeatMs
    lastCheckAt = now
    try {
      await service.store.check()
      if (isOut || wasPaused) graceUntil = service.now() + graceMs
      isOut = false
      if (service.now() < graceUntil) return
      await flush()
      const ids = await markSilentAgentsDown(service)
      if (ids.length > 0)
        log.warn({ agentIds: ids.slice(0, 20), agents: ids.length }, 'agents are Down')
    } catch (error) {
      if (!isOut) log.error({ err: error }, 'the store does not answer: no agent is called Down')
      isOut = true
    }
  }
}

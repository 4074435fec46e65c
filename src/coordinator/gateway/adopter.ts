/** Adopts the VCL that caches of connected agents run: one attempt per agent at a time, retried later if it failed. */
import type { Logger } from 'pino'
import { createContext } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { AgentDescription } from '../../messages/agent-to-coordinator.js'
import { adoptRunningVcl, type AdoptionRequest } from '../registration/adopt.js'
import type { StateService } from '../service.js'

export interface Adopter {
  /** Called for each hello and full state of an agent; returns at once and does nothing unless the agent asks for adoption. */
  consider(agentId: number, described: Pick<AgentDescription, 'adoption' | 'adoptGroup'>): void
  /** Resolves when running attempts have ended. */
  close(): Promise<void>
}

const retryMs = 5_000

/** @param isLinked true while this process holds the agent's link */
export function createAdopter(
  service: StateService,
  log: Logger,
  isLinked: (agentId: number) => boolean,
): Adopter {
  const running = new Map<number, Promise<void>>()
  const timers = new Map<number, NodeJS.Timeout>()
  let closed = false

  return {
    consider: (agentId, { adoption, adoptGroup = null }) => {
      if (adoption === 'ready') begin({ agentId, groupName: adoptGroup })
    },
    close: async () => {
      closed = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }

  function begin(request: AdoptionRequest): void {
    const { agentId } = request
    if (closed || running.has(agentId) || !isLinked(agentId)) return
    clearTimeout(timers.get(agentId))
    timers.delete(agentId)
    const attempt = adopt(request).finally(() => running.delete(agentId))
    running.set(agentId, attempt)
  }

  /** Never rejects. */
  async function adopt(request: AdoptionRequest): Promise<void> {
    const { agentId } = request
    const context = createContext(log)
    try {
      await adoptRunningVcl(service, context, request)
    } catch (error) {
      if (error instanceof FleetError && error.kind === 'not-found') return
      const why = error instanceof FleetError ? { why: error.message } : { err: error }
      if (!closed) context.log.warn({ agentId, ...why }, 'not adopted yet; trying on')
      const timer = setTimeout(() => {
        timers.delete(agentId)
        begin(request)
      }, retryMs)
      timer.unref()
      if (closed) clearTimeout(timer)
      else timers.set(agentId, timer)
    }
  }
}

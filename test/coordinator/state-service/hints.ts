/** The heartbeat of these tests, and what was hinted to other coordinators. */
import { agentChangedSubject } from '../../../src/bus/bus.js'
import { readAgentIds } from '../../../src/coordinator/state-service/agents/agent-hints.js'
import type { TestService } from '../agent-gateway/service.js'

export const all = { kind: 'all' } as const
export const heartbeatMs = 5000

export function watch(service: TestService) {
  const hinted: number[][] = []
  service.bus.subscribe(agentChangedSubject, (hint) => hinted.push([...readAgentIds(hint)]))
  return hinted
}

/** Whatever was published before has been delivered when this resolves. */
export async function delivered(service: TestService): Promise<void> {
  await new Promise<void>((resolve) => {
    const marker = service.bus.subscribe('marker', () => {
      marker.close()
      resolve()
    })
    service.bus.publish('marker', {})
  })
}

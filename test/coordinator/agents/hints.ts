/** The heartbeat of these tests, and what was hinted to other coordinators. */
import { agentChangedSubject } from '../../../src/coordinator/bus/bus.js'
import { readAgentIds } from '../../../src/coordinator/agents/agent-hints.js'
import type { TestService } from '../gateway/service.js'

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

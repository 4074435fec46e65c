/** The heartbeat interval of these tests, and the hints published to other coordinators. */
import { agentChangedSubject } from '../../../src/coordinator/bus/subjects.js'
import { uncheckedSubject } from '../../../src/coordinator/bus/bus.js'
import type { TestService } from '../gateway/service.js'

export const all = { kind: 'all' } as const
export const heartbeatMs = 5000

export function watch(service: TestService) {
  const hinted: number[][] = []
  service.bus.subscribe(agentChangedSubject, ({ agentIds }) => hinted.push([...agentIds]))
  return hinted
}

/** Resolves when everything published before has been delivered. */
export async function delivered(service: TestService): Promise<void> {
  await new Promise<void>((resolve) => {
    const marker = service.bus.subscribe(uncheckedSubject('marker'), () => {
      marker.close()
      resolve()
    })
    service.bus.publish(uncheckedSubject('marker'), {})
  })
}

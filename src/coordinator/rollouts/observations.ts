/**
 * What agents of running rollouts observe, as this process has heard it: kept for 15 minutes, in memory only, since the agents keep
 * it too and tell it again to whoever asks anew.
 */
import type { RolloutRecord } from '../fleet/rollout-queries.js'
import type { ObservedAgent } from './judge-gates.js'
import type { Seconds } from './observed-seconds.js'

type Observed = Pick<ObservedAgent, 'since' | 'before' | 'healthyBackends' | 'probes'>

export interface Observations {
  /** From now on what the agents of these see is wanted. */
  observe(rollouts: readonly RolloutRecord[]): void
  read(rollout: RolloutRecord, agentId: number): Observed
  /** The newest of an agent that has not switched. */
  readControl(rollout: RolloutRecord, agentId: number): readonly Seconds[]
  /** How much of the present bake its agents have observed. */
  bakedSeconds(rollout: RolloutRecord): number
  close(): void
}

export function createObservations(): Observations {
  return {
    observe: () => undefined,
    read: () => ({ since: [], before: [], healthyBackends: null, probes: [] }),
    readControl: () => [],
    bakedSeconds: () => 0,
    close: () => undefined,
  }
}

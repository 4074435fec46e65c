/** What the coordinator must know of an agent. */
import { hostname } from 'node:os'
import type { AgentDescription, EngineCondition } from '../messages/agent-to-coordinator.js'
import { capabilitiesOf } from '../resources/capability.js'
import type { EngineInventory } from '../vcl/engine-inventory.js'
import type { AgentConfig } from './agent-config.js'
import type { AgentRecord } from './agent-record.js'
import { isToAdopt } from './apply/adopt.js'
import { describeHeld } from './apply/held-cache.js'
import type { Engine } from './engine/engine.js'
import type { AgentLog } from './log/agent-log.js'

export interface AgentFacts {
  readonly record: AgentRecord
  /** Null: the cache was not seen yet. */
  readonly inventory: EngineInventory | null
  readonly engine: Pick<Engine, 'product' | 'version' | 'revision' | 'workingDirectory'>
  readonly keyDigest: string
  readonly hasTls: boolean
  readonly log: Pick<AgentLog, 'trouble' | 'lacking'>
  readonly condition: EngineCondition
}

/** True when the agent runs tests of VCL. */
export function mayTest({ tests = false, readOnly, engine }: AgentConfig): boolean {
  return tests && !readOnly && engine.mode !== 'simulated'
}

export function describeAgent(config: AgentConfig, facts: AgentFacts): AgentDescription {
  const { name, tags, agentVersion } = config
  const { record, keyDigest } = facts
  return {
    name,
    agentVersion,
    tags,
    coordinatorId: record.coordinatorId,
    keyDigest,
    hostName: hostname(),
    ...describeChangeable(config, facts),
  }
}

/** What may change while the link is open. */
export type Changeable = Omit<
  AgentDescription,
  'name' | 'agentVersion' | 'tags' | 'coordinatorId' | 'keyDigest' | 'hostName'
>

export function describeChangeable(
  config: AgentConfig,
  { record, inventory, engine, hasTls, log, condition }: AgentFacts,
): Changeable {
  const { http, readOnly, takeover, adoptGroup, healthListen } = config
  const { lockedBecause } = record
  const { product, version, revision, workingDirectory } = engine
  const isHeld = lockedBecause !== null && inventory !== null
  return {
    capabilities: capabilitiesOf({
      readOnly,
      hasTls,
      hasLog: log.trouble === null,
      hasHealth: Boolean(healthListen),
      hasTests: mayTest(config),
    }),
    ...(isToAdopt(config, record) && {
      adoption: condition.engineState === 'running' ? 'ready' : 'waiting',
      ...(typeof adoptGroup === 'string' && { adoptGroup }),
    }),
    ...(isHeld && { held: describeHeld(record, inventory, takeover) }),
    ...(log.lacking !== null && { logTrouble: log.lacking }),
    engine: { ...http, product, version, revision, workingDirectory },
    condition,
  }
}

/** A cache that is only simulated, in this process (`--engine simulate`): the project's own server side of the management port. */
import { randomBytes } from 'node:crypto'
import { createSimulatedEngine } from '../../../protocol/simulator/simulated-engine.js'
import type { AgentConfig, EngineConfig } from '../agent-config.js'
import { compileVcl } from './compile-vcl.js'

interface SimulatedCache {
  readonly engine: Extract<EngineConfig, { mode: 'simulated' }>
  /** What is reported: nobody serves there. */
  readonly http: AgentConfig['http']
  stop(): Promise<void>
}

export function createSimulatedCache(options: {
  readonly http: AgentConfig['http']
  /** How long a load holds up this cache, as a compiler would. */
  readonly compileMs: number
}): SimulatedCache {
  const secret = randomBytes(32)
  const engine = createSimulatedEngine({ secret, compileMs: options.compileMs, compileVcl })
  return {
    engine: { mode: 'simulated', connect: () => engine.connect(), secret },
    http: options.http,
    stop: () => {
      engine.close()
      return Promise.resolve()
    },
  }
}

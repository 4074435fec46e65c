/** A cache that is only simulated, in this process (`--engine simulate`): the project's own server side of the management port. */
import { randomBytes } from 'node:crypto'
import { createSimulatedEngine } from '../../../protocol/simulator/simulated-engine.js'
import type { AgentConfig, EngineConfig } from '../agent-config.js'
import { compileVcl } from './compile-vcl.js'

/** Of the releases that are tested. */
const firstWithTls = '9.0.2'

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
  /** What it reads as files by their paths, where it has a TLS listener. */
  readonly tlsFiles?: ReadonlyMap<string, string> | null
}): SimulatedCache {
  const { compileMs, tlsFiles = null } = options
  const secret = randomBytes(32)
  const tls = tlsFiles && {
    version: firstWithTls,
    readTlsFile: (path: string) => tlsFiles.get(path) ?? null,
  }
  const engine = createSimulatedEngine({ secret, compileMs, compileVcl, ...tls })
  return {
    engine: { mode: 'simulated', connect: () => engine.connect(), secret },
    http: options.http,
    stop: () => {
      engine.close()
      return Promise.resolve()
    },
  }
}

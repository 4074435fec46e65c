/** A simulated cache in this process (`--engine simulate`): the project's own server side of the management port. */
import { randomBytes } from 'node:crypto'
import { createSimulatedEngine } from '../../../protocol/simulator/simulated-engine.js'
import type { AgentConfig, EngineConfig } from '../agent-config.js'
import { compileVcl } from './compile-vcl.js'

/** One of the tested releases. */
const firstWithTls = '9.0.2'

interface SimulatedCache {
  readonly engine: Extract<EngineConfig, { mode: 'simulated' }>
  /** The address that is reported; there is no listener. */
  readonly http: AgentConfig['http']
  stop(): Promise<void>
}

export function createSimulatedCache(options: {
  readonly http: AgentConfig['http']
  /** How long a load blocks this cache, as a compiler would. */
  readonly compileMs: number
  /** The files it reads, by path, if it has a TLS listener. */
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

/** Simulated engines for one test, and clients in memory. */
import type { SimulatedEngine } from '../../../protocol/simulator/simulated-engine.js'
import { createSimulatedEngine, type EngineOptions } from '../../support/simulated-engine.js'
import { RawClient } from './raw-client.js'

const vcl = 'vcl 4.1;\\nbackend default { .host = \\"127.0.0.1\\"; }'

/** The command that loads a plain program. */
export const load = (name: string) => `vcl.inline ${name} "${vcl}"`

/** An engine without authentication, and clients that have read its banner. */
export function start(
  t: { teardown(end: () => void): unknown },
  options: EngineOptions = {},
): SimulatedEngine {
  const engine = createSimulatedEngine(options)
  t.teardown(() => {
    engine.close()
  })
  return engine
}

export async function open(engine: SimulatedEngine): Promise<RawClient> {
  const client = new RawClient(engine.connect())
  await client.next()
  return client
}

/** Lets all pending callbacks run. */
export const pause = () => new Promise((resume) => setImmediate(resume))

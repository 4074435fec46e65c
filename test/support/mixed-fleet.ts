/** A coordinator with agents beside simulated caches of several releases. */
import { runTestAgent } from '../agent/run-agent.js'
import type { SimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import { startCoordinator, type CoordinatorProcess, type TestEnd } from './daemon.js'
import { eventually } from './eventually.js'
import { createSimulatedEngine } from './simulated-engine.js'

export interface MixedFleet {
  readonly coordinator: CoordinatorProcess
  /** Ends the cache of this agent and starts it again as this release. */
  readonly replaceCache: (name: string, release: string) => void
  /** The current engines of all caches. */
  readonly engines: () => readonly SimulatedEngine[]
}

const secret = Buffer.from('secret')

/** `releases`: of the caches by agent name; the agents have the tag `web`. */
export async function startMixedFleet(
  t: TestEnd,
  releases: Readonly<Record<string, string>>,
): Promise<MixedFleet> {
  const coordinator = await startCoordinator(t, { words: ['--no-agent', '--heartbeat', '3'] })
  const names = Object.keys(releases)
  const token = await coordinator.api.makeJoinToken(names.length)
  const caches = new Map<string, SimulatedEngine>()
  const replaceCache = (name: string, release: string): void => {
    const before = caches.get(name)
    caches.set(name, createSimulatedEngine({ version: release, secret }))
    before?.close()
  }
  t.teardown(() => {
    for (const cache of caches.values()) cache.close()
    return Promise.resolve()
  })
  const connect = (name: string) => {
    const cache = caches.get(name)
    if (!cache) throw new Error(`${name} has no cache`)
    return cache.connect()
  }
  const { port } = coordinator
  for (const [name, release] of Object.entries(releases)) {
    replaceCache(name, release)
    await runTestAgent(
      t,
      { url: `ws://127.0.0.1:${port}` },
      { mode: 'simulated', connect: () => connect(name), secret },
      { name, tags: ['web'], joinToken: () => Promise.resolve(token) },
    )
  }
  await eventually('all agents are Running', async () => {
    const agents = await coordinator.api.listAgents()
    return (
      agents.length === names.length && agents.every(({ stateName }) => stateName === 'Running')
    )
  })
  return { coordinator, replaceCache, engines: () => [...caches.values()] }
}

/** A coordinator with agents over real links; their simulated caches have a TLS listener or none. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import type { Test } from 'tap'
import { openCertificateFor } from '../../../src/coordinator/certificates/certificate-texts.js'
import { startCertificateFollower } from '../../../src/coordinator/certificates/follow-certificates.js'
import { startPlacementFollower } from '../../../src/coordinator/deploying/placement-follower.js'
import { AgentGateway } from '../../../src/coordinator/gateway/agent-gateway.js'
import type { SimulatedEngine } from '../../../protocol/simulator/simulated-engine.js'
import { loadLimits } from '../../../src/vcl/compile-limits.js'
import { startAgent, type RunningAgent } from '../../../src/agent/agent.js'
import { makeFolder } from '../../agent/run-agent.js'
import type { TestEnd } from '../../support/daemon.js'
import { eventually } from '../../support/eventually.js'
import { createSimulatedEngine } from '../../support/simulated-engine.js'
import { startClient, type Client } from '../controller/client.js'
import { makeToken } from '../gateway/service.js'

interface TlsFleet {
  readonly client: Client
  readonly url: string
  /** Creates missing tags; resolves when the agent is Running. */
  addCache(name: string, tags: readonly string[], options?: CacheOptions): Promise<TlsCache>
}

interface CacheOptions {
  readonly hasTls?: boolean
}

export interface TlsCache {
  readonly engine: SimulatedEngine
  readonly agent: RunningAgent
  readonly stateDir: string
  /** While true, the cache cannot read its certificate files. */
  refusing: boolean
  /** The `tls.cert.load` commands that the agent sent to its cache. */
  loads(): readonly string[]
}

const secret = Buffer.from('the secret of this cache\n')

export async function startTlsFleet(t: Test): Promise<TlsFleet> {
  const client = await startClient(t)
  const log = pino({ level: 'silent' })
  const { service, identity } = client
  const gateway = new AgentGateway(service, log, {
    openCertificate: (agentId, sha) => openCertificateFor(identity, agentId, sha),
  })
  const placement = startPlacementFollower(service, log)
  const follower = startCertificateFollower(service, log)
  const server = createServer((request, response) => {
    void gateway.handleRequest(request, response)
  })
  server.on('upgrade', (request, socket, head) => {
    gateway.handleUpgrade(request, socket, head)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    await placement.close()
    await follower.close()
    await gateway.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // listening on TCP
  const url = `ws://127.0.0.1:${port}`
  return {
    client,
    url,
    addCache: (name, tags, options = {}) =>
      addCache(t, { client, url }, { name, tags, ...options }),
  }
}

async function addCache(
  t: Test,
  { client, url }: Pick<TlsFleet, 'client' | 'url'>,
  wanted: CacheOptions & { readonly name: string; readonly tags: readonly string[] },
): Promise<TlsCache> {
  const token = await makeToken(client.service, { maxUses: 1 })
  const cache = await startTlsCache(t, { url, token, ...wanted })
  await eventually(`${wanted.name} is Running`, async () => {
    const agents = await client.list('/agents')
    return agents.some((one) => one['name'] === wanted.name && one['stateName'] === 'Running')
  })
  return cache
}

interface TlsCacheSetup extends CacheOptions {
  /** URL of the coordinator: `ws://…`. */
  readonly url: string
  /** Join token for the first connection. */
  readonly token: string
  readonly name: string
  readonly tags: readonly string[]
}

/** An agent with its simulated cache; both stop with the test. */
export async function startTlsCache(t: TestEnd, setup: TlsCacheSetup): Promise<TlsCache> {
  const { url, token, name, tags, hasTls = true } = setup
  let isRefusing = () => false
  const engine = createSimulatedEngine({
    secret,
    version: '9.0.2',
    journalLines: 1000,
    ...(hasTls && {
      readTlsFile: (path: string) => (isRefusing() ? null : readIfThere(path)),
    }),
  })
  const stateDir = await makeFolder(t)
  const agent = await startAgent(
    {
      agentVersion: '0.1.0',
      name,
      tags,
      readOnly: false,
      stateDir,
      coordinator: { url, caFile: null },
      joinToken: () => Promise.resolve(token),
      engine: { mode: 'simulated', connect: () => engine.connect(), secret },
      http: { host: '127.0.0.1', port: 0 },
      takeover: 'registration',
      warmupMs: 0,
      furtherCounters: [],
      metricsListen: null,
      checks: { program: null, budgetLimits: loadLimits },
    },
    pino({ level: 'silent' }),
  )
  t.teardown(async () => {
    await agent.stop()
    engine.close()
  })
  const loads = () => engine.journal.filter((line) => line.startsWith('tls.cert.load'))
  const cache = { engine, agent, stateDir, loads, refusing: false }
  isRefusing = () => cache.refusing
  return cache
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** An agent with a simulated cache, with or without a TLS listener, and certificates for it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openManagementConnection } from '../../protocol/connection.js'
import { typedLine } from '../../protocol/command.js'
import type { SimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import type { AgentConfig } from '../../src/agent/agent-config.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import { certificateName, type DesiredCertificate } from '../../src/vcl/desired-certificates.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { answering, idle } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { runTestAgent, type AgentSettings, type TestAgent } from './run-agent.js'

const secret = Buffer.from('the secret of this cache\n')

interface TlsAgent {
  readonly engine: SimulatedEngine
  readonly coordinator: CoordinatorEnd
  readonly agent: TestAgent
  readonly config: AgentConfig['engine']
}

export async function startTlsAgent(
  t: Test,
  options: { readonly hasTls?: boolean; readonly settings?: AgentSettings } = {},
): Promise<TlsAgent> {
  const { hasTls = true } = options
  const engine = createSimulatedEngine({
    secret,
    version: '9.0.2',
    bootVcl: answering('foreign'),
    journalLines: 1000,
    ...(hasTls && { readTlsFile: readIfThere }),
  })
  t.teardown(() => {
    engine.close()
  })
  const coordinator = await startCoordinatorEnd(t)
  const config = { mode: 'simulated', connect: () => engine.connect(), secret } as const
  const agent = await runTestAgent(t, coordinator, config, options.settings)
  await coordinator.hello()
  return { engine, coordinator, agent, config }
}

export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Publishes a certificate for the agent. */
export async function give(
  coordinator: CoordinatorEnd,
  id: number,
  names = ['www.example.com'],
): Promise<DesiredCertificate> {
  const { chain, key } = await makeDomainCertificate({ names })
  const sha = coordinator.publish(`${chain}${key}`)
  return { name: certificateName(id, sha), sha }
}

export const withCertificates = (...certificates: DesiredCertificate[]): DesiredEngine => ({
  ...idle,
  certificates,
})

/** Certificates that handshakes would get, according to the cache's own list. */
export async function listActive(engine: SimulatedEngine): Promise<string[]> {
  return (await listed(engine)).flatMap(({ id, status }) => (status === 'active' ? [id] : []))
}

/** Runs a command as with varnishadm. */
export async function ask(engine: SimulatedEngine, line: string): Promise<string> {
  const connection = await openManagementConnection(engine.connect(), {
    secret: () => Promise.resolve(secret),
  })
  const { body } = await connection.run(typedLine(line))
  connection.close()
  return body.toString('utf8')
}

export async function listed(engine: SimulatedEngine): Promise<{ id: string; status: string }[]> {
  const text = await ask(engine, 'tls.cert.list')
  return text
    .split('\n')
    .filter((line) => line.startsWith('default'))
    .map((line) => {
      const [, id = '', status = ''] = line.split('\t')
      return { id, status }
    })
}

export const fileOf = ({ stateDir }: TestAgent, { name }: DesiredCertificate): string =>
  join(stateDir, 'tls', `${name.replace(/^cf-/, '')}.pem`)

export const fileName = ({ name }: DesiredCertificate): string => `${name.replace(/^cf-/, '')}.pem`

/** Starts agents for tests in this process, with a readable log. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startAgent, type RunningAgent } from '../../src/agent/agent.js'
import type { AgentConfig } from '../../src/agent/agent-config.js'
import { loadLimits } from '../../src/vcl/compile-limits.js'
import type { Varnishd } from '../support/varnishd.js'
import type { CoordinatorEnd } from './coordinator-end.js'

interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

export interface TestAgent extends RunningAgent {
  readonly stateDir: string
  /** All log lines so far, parsed. */
  readonly lines: readonly LogLine[]
}

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly why?: string
  readonly traceId?: string
  readonly command?: string
}

export interface AgentSettings extends Partial<AgentConfig> {
  readonly stateDir?: string
}

export async function makeFolder(t: TestEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-agent-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export async function runTestAgent(
  t: TestEnd,
  coordinator: Pick<CoordinatorEnd, 'url'>,
  engine: AgentConfig['engine'],
  settings: AgentSettings = {},
): Promise<TestAgent> {
  const stateDir = settings.stateDir ?? (await makeFolder(t))
  const lines: LogLine[] = []
  const log = pino(
    { level: 'debug', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) },
  ) // our own log
  const agent = await startAgent(
    {
      agentVersion: '0.1.0',
      name: 'edge-1',
      tags: ['static-a'],
      readOnly: false,
      coordinator: { url: coordinator.url, caFile: null },
      joinToken: () => Promise.resolve('the-token'),
      engine,
      http: { host: '127.0.0.1', port: 6081 },
      takeover: 'registration',
      warmupMs: 10_000,
      furtherCounters: [],
      metricsListen: null,
      checks: { program: null, budgetLimits: loadLimits },
      ...settings,
      stateDir,
    },
    log,
  )
  let stopped: Promise<void> | null = null
  const stop = () => (stopped ??= agent.stop())
  t.teardown(stop)
  return {
    condition: () => agent.condition(),
    isLinked: () => agent.isLinked(),
    stop,
    stateDir,
    lines,
  }
}

export function attachTo(cache: Varnishd): AgentConfig['engine'] {
  const { host, port, secretFile, workDir } = cache
  return { mode: 'attach', host, port, secretFile, workingDirectory: workDir }
}

/** The changing commands in the agent's log. */
export function changesIn(agent: TestAgent, from = 0): string[] {
  return agent.lines
    .slice(from)
    .filter((line) => line.msg === 'engine command' && line.level === 30)
    .map((line) => line.command ?? '')
}

/** Shared by the fleet benchmarks: simulated caches with their agents in a separate process, and a group for all of them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentView, ApiClient } from '../support/api-client.js'
import { makeStateDir, startDaemon, type Daemon, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

/** Compile time of a simulated cache. */
export const compileMs = 200
const waitLimitMs = 300_000
/** Polling a fleet costs the coordinator time, too: the larger the fleet, the longer a poll, and the later the next one. */
const pollMs = 100
const pauseOfLook = 4

interface FleetOrder {
  readonly size: number
  readonly joinToken: string
  /** Of the coordinators, `http://…`. */
  readonly bases: readonly string[]
  /** Of the process: its agents are named `<name>-sim-00001` and so on. */
  readonly name: string
  /** In addition to `simulated`. */
  readonly tag?: string
  readonly hasTls?: boolean
}

/** Returns at once. The process's own agent is simulated as well, without the tag `simulated`. */
export async function startFleet(t: TestEnd, order: FleetOrder): Promise<Daemon> {
  const { size, joinToken, bases, name, tag, hasTls = false } = order
  const stateDir = await makeStateDir(t)
  const url = bases.map((base) => base.replace(/^http/, 'ws')).join(',')
  return startDaemon(
    t,
    [
      ...['--engine', 'simulate', '--simulate', String(size), '--name', name],
      ...(tag === undefined ? [] : ['--tags', tag]),
      ...(hasTls ? ['--simulate-tls'] : []),
      ...['--simulate-compile-ms', String(compileMs), '--state-dir', stateDir],
      ...['--coordinator-url', url, '--log-level', 'warn'],
    ],
    { CACHEFLEET_JOIN_TOKEN: joinToken },
  )
}

export async function untilAllRun(
  api: ApiClient,
  fleet: Daemon,
  { size, tag = 'simulated' }: { readonly size: number; readonly tag?: string },
): Promise<void> {
  await until('all are Running', fleet, async () => {
    const { headers } = await api.call('GET', `/agents?tags.name=${tag}&stateName=Running&take=1`)
    // The process's own agent has the tag, too, unless it is `simulated`.
    return Number(headers.get('x-total-count')) >= size
  })
}

/** No agent has a pending change. */
export async function untilAllHold(api: ApiClient, fleet: Daemon): Promise<void> {
  await until('all hold what they should', fleet, async () => {
    const agents = await api.listAgents()
    return agents.every(({ config }) => config.effective.revision === config.desired.revision)
  })
}

/** Each agent sent a heartbeat after this time. */
export async function untilAllBack(api: ApiClient, fleet: Daemon, sinceMs: number): Promise<void> {
  await until('all are back', fleet, async () => {
    const { status, text } = await api.call('GET', '/agents?sort=lastHeartbeat:asc&take=1')
    if (status !== 200) return false
    const [oldest] = JSON.parse(text) as AgentView[] // a list of agents
    return oldest !== undefined && Date.parse(oldest.lastHeartbeat) > sinceMs
  })
}

export async function untilAllApplied(
  api: ApiClient,
  fleet: Daemon,
  group: { readonly id: number; readonly size: number },
): Promise<void> {
  await until('all have applied', fleet, async () => {
    const { agentStates } = await api.readGroup(group.id)
    const applied = agentStates.filter(({ state }) => state === 'applied').length
    return applied === group.size
  })
}

async function until(what: string, fleet: Daemon, look: () => Promise<boolean>): Promise<void> {
  let lookedMs = 0
  await eventually(
    what,
    async () => {
      if (!fleet.isRunning()) throw new Error(`the fleet ended: ${fleet.errors()}`)
      await pause(Math.max(pollMs, pauseOfLook * lookedMs))
      const startedAt = performance.now()
      const isSo = await look()
      lookedMs = performance.now() - startedAt
      return isSo
    },
    waitLimitMs,
  )
}

export interface FleetGroup {
  readonly id: number
  readonly fileId: number
}

/** A root group for all agents with this tag. */
export async function makeFleetGroup(
  api: ApiClient,
  { tag, max }: { readonly tag: string; readonly max: number },
): Promise<FleetGroup> {
  const fileId = await api.makeFile(`${tag}.vcl`, writeVcl('first'))
  const tagId = await api.findTag(tag)
  const deployment = await api.makeDeployment(tag, tagId, { min: 1, max })
  return { id: await api.makeGroup({ name: tag, mainFile: fileId, deployment }), fileId }
}

export function writeVcl(word: string): string {
  return [
    'vcl 4.1;',
    'backend origin { .host = "192.0.2.1"; }',
    'sub vcl_recv { if (req.url ~ "^/admin") { return (synth(403)); } }',
    `sub vcl_deliver { set resp.http.X-Deploy = "${word}"; }`,
    '',
  ].join('\n')
}

/** Milliseconds from the call to its answer; throws unless that is 200. */
export async function timeVerb(api: ApiClient, groupId: number, verb: string): Promise<number> {
  const startedAt = performance.now()
  const { status, text } = await api.act(groupId, verb, '?wait=300s')
  const tookMs = performance.now() - startedAt
  if (status === 200) return tookMs
  throw new Error(`${verb} was answered ${status}: ${text.slice(0, 500)}`)
}

/**
 * The desired state and last attempt of each agent. `lastAttempted.at` changes with every action on the cache, and
 * every change sent has its own revision: where neither changed, no cache was sent a changing command.
 */
export async function readConfigs(api: ApiClient): Promise<ReadonlyMap<number, string>> {
  return new Map((await api.listAgents()).map(({ id, config }) => [id, JSON.stringify(config)]))
}

/** Agents whose desired state or last attempt changed. */
export function countChanged(
  before: ReadonlyMap<number, string>,
  after: ReadonlyMap<number, string>,
): number {
  return [...after].filter(([id, config]) => before.get(id) !== config).length
}

interface LoopDelay {
  readonly p99Ms: number
  readonly longestMs: number
}

/** The metric is of the whole time between two samples: a loop without any delay has this value (prom-client, eventLoopLag.js). */
const samplingMs = 10

/** Of a coordinator since the last call, which resets it. */
export async function readLoopDelay(base: string): Promise<LoopDelay> {
  const text = await (await fetch(`${base}/metrics`)).text()
  const read = (name: string) =>
    1000 * Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN) - samplingMs
  return {
    p99Ms: read('nodejs_eventloop_lag_p99_seconds'),
    longestMs: read('nodejs_eventloop_lag_max_seconds'),
  }
}

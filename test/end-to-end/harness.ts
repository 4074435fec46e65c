/** The harness of the end-to-end tests: a coordinator, an agent and a real cache, with a proxy on either side of the agent. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import type { AgentView, ApiClient, GroupView } from '../support/api-client.js'
import type { CallAnswer } from '../support/http-call.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy, type LinkProxy } from '../support/link-proxy.js'
import { startManagementProxy, type ManagementProxy } from '../support/management-proxy.js'
import { startNats, type NatsServer } from '../support/nats.js'
import { startPostgres, type PostgresServer } from '../support/postgres.js'
import type { CacheProgram } from '../support/cache-program.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

export interface Harness {
  readonly cache: Varnishd
  readonly agentName: string
  /** A tag of its agent. */
  readonly agentTag: string
  /** Its API is called; if there are two coordinators, agents connect to the other. */
  readonly coordinator: CoordinatorProcess
  readonly api: ApiClient
  /** Between agent and coordinator. */
  readonly link: LinkProxy
  /** Between agent and cache. */
  readonly port: ManagementProxy
  readonly agentStateDir: string
  /** The current process, or the last one. */
  agent: Daemon
  /** Starts it again with its existing key. */
  startAgent(words?: readonly string[]): void
}

interface HarnessSetup {
  readonly heartbeatSeconds?: number
  /** 1 (the default): on SQLite; 2: over one PostgreSQL and one NATS. */
  readonly coordinators?: 1 | 2
  /** Running coordinators that other harnesses use, too. */
  readonly shared?: Coordinators
  /** Name and tag must differ from those of other harnesses at the same coordinators. */
  readonly agentName?: string
  readonly agentTag?: string
  readonly agentWords?: readonly string[]
  /** Another release than the default one of the tests. */
  readonly program?: CacheProgram
  /** Words for the cache's command line. */
  readonly cacheWords?: readonly string[]
  /** By default, a new one. */
  readonly agentStateDir?: string
  /** A command that executes the agent, computed at each start. */
  readonly agentThrough?: () => readonly string[]
  /** In addition to `agentTag`. */
  readonly tags?: readonly string[]
}

/** The two setups of coordinators: behaviour that is common to both is tested in both. */
export const ways: readonly (readonly [string, 1 | 2])[] = [
  ['with one coordinator on SQLite', 1],
  ['with two on PostgreSQL and NATS, agents linked to the other', 2],
]

export const agentName = 'edge'
export const agentTag = 'web'

/** Resolves when the agent is registered; it may still be changing the cache. */
export async function startHarness(t: Test, setup: HarnessSetup = {}): Promise<Harness> {
  const [cache, { coordinator, linked }] = await Promise.all([
    startVarnishd(t, {
      vcl: answering('foreign'),
      args: setup.cacheWords ?? [],
      ...(setup.program && { program: setup.program }),
    }),
    setup.shared ?? startShared(t, setup),
  ])
  const link = await startLinkProxy(t, linked.port)
  const port = await startManagementProxy(t, cache)
  const stateDir = setup.agentStateDir ?? (await makeStateDir(t))
  const names = {
    agentName: setup.agentName ?? agentName,
    agentTag: setup.agentTag ?? agentTag,
  }
  const launch = (words: readonly string[] = setup.agentWords ?? [], joinToken?: string): Daemon =>
    startAgent(t, cache, {
      coordinatorUrl: link.url,
      name: names.agentName,
      stateDir,
      words,
      port: port.port,
      tags: [names.agentTag, ...(setup.tags ?? [])],
      through: setup.agentThrough?.() ?? [],
      ...(joinToken === undefined ? {} : { joinToken }),
    })
  const harness: Harness = {
    cache,
    ...names,
    coordinator,
    link,
    port,
    api: coordinator.api,
    agentStateDir: stateDir,
    agent: launch(undefined, await coordinator.api.makeJoinToken()),
    startAgent: (words) => {
      harness.agent = launch(words)
    },
  }
  await eventually('the agent is registered', () => harness.api.findAgent(names.agentName))
  return harness
}

export interface Coordinators {
  /** Its API is called. */
  readonly coordinator: CoordinatorProcess
  /** The one that agents connect to. */
  readonly linked: CoordinatorProcess
}

/** Coordinators for several harnesses, whose agents, tags and groups have distinct names. */
export function startShared(
  t: Test,
  { heartbeatSeconds = 3, coordinators = 1 }: HarnessSetup = {},
): Promise<Coordinators> {
  const words = ['--no-agent', '--heartbeat', String(heartbeatSeconds)]
  return coordinators === 2 ? startPair(t, words) : startAlone(t, words)
}

async function startAlone(t: Test, words: readonly string[]): Promise<Coordinators> {
  const coordinator = await startCoordinator(t, { words })
  return { coordinator, linked: coordinator }
}

async function startPair(t: Test, words: readonly string[]): Promise<Coordinators> {
  const [coordinator, linked] = await startCoordinators(t, words)
  return { coordinator, linked }
}

/** Two over one PostgreSQL and one NATS. */
export async function startCoordinators(
  t: Test,
  words: readonly string[],
): Promise<readonly [CoordinatorProcess, CoordinatorProcess, PostgresServer, NatsServer]> {
  const [postgres, nats] = await Promise.all([startPostgres(t), startNats(t)])
  const secretKeyFile = join(await makeStateDir(t), 'secret.key')
  const shared = ['--store', await postgres.url(), '--bus', nats.url]
  const setup = { words: [...words, ...shared, '--secret-key-file', secretKeyFile] }
  const [one, two] = await Promise.all([startCoordinator(t, setup), startCoordinator(t, setup)])
  return [one, two, postgres, nats]
}

export function untilAgent(
  harness: Pick<Harness, 'api'> & Partial<Pick<Harness, 'agentName'>>,
  stateName: string,
  name = harness.agentName ?? agentName,
): Promise<AgentView> {
  return eventually(`${name} is ${stateName}`, async () => {
    const agent = await harness.api.findAgent(name)
    if (agent?.stateName !== stateName) throw new Error(`it is ${agent?.stateName ?? 'unknown'}`)
    return agent
  })
}

export async function untilServing(cache: Varnishd, mark: string): Promise<void> {
  await eventually(`the cache serves ${mark}`, async () => (await fetchMark(cache)).mark === mark)
}

/** A group whose main VCL is changed and deployed repeatedly. */
export interface Site {
  readonly id: number
  readonly file: number
  /** The mark of each version of the file. */
  readonly marks: Map<number, string>
  /** The name of a group with domains; without one, it is a root group. */
  readonly host?: string
}

export async function makeSite(
  harness: Pick<Harness, 'api'> & Partial<Pick<Harness, 'agentTag'>>,
  name: string,
  placed: { readonly tag?: string; readonly min?: number; readonly max?: number } = {},
): Promise<Site> {
  const { api } = harness
  const { tag = harness.agentTag ?? agentTag, min = 1, max = 1 } = placed
  const mark = `${name}-first`
  const file = await api.makeFile(`${name}.vcl`, answering(mark))
  const deployment = await api.makeDeployment(name, await api.findTag(tag), { min, max })
  const id = await api.makeGroup({ name, mainFile: file, deployment })
  return { id, file, marks: new Map([[1, mark]]) }
}

export async function editSite(
  harness: Pick<Harness, 'api'>,
  site: Site,
  mark: string,
): Promise<void> {
  site.marks.set(await harness.api.editFile(site.file, answering(mark)), mark)
}

/** Throws unless the deploy was answered with 200. */
export async function deploySite(harness: Pick<Harness, 'api'>, site: Site): Promise<void> {
  expectDone(await harness.api.act(site.id, 'deploy'))
}

/** The errorMsg of an answer with this status. */
export function readRefusal({ status, text }: CallAnswer, wanted: number): string {
  if (status !== wanted) throw new Error(`answered ${status}, not ${wanted}: ${text}`)
  return (JSON.parse(text) as { errorMsg: string }).errorMsg // the error body of every refusal
}

export function expectDone(answer: CallAnswer): void {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`)
}

/**
 * Returns the mark that serves. Throws until all parts agree: group, history, agent, the loaded VCLs of the cache and its answer. Only
 * these may be loaded: the current and one previous revision, the label and the routing VCL of groups with domains, the idle VCL; and
 * the VCLs of the groups in `beside`. None of our VCLs may have been saved as foreign.
 */
export async function readAgreement(
  harness: Harness,
  site: Site,
  ...beside: readonly Site[]
): Promise<string> {
  const group = await harness.api.readGroup(site.id)
  const mark = await readDeployedMark(harness, site, group)
  const place = group.agentStates[0]
  agree(group.stateName === 'Active' && group.deployed, group)
  agree(group.agentStates.length === 1 && place?.state === 'applied', group)
  agree(place?.revision === group.revision && place.error === null, group)
  const agent = await harness.api.findAgent(harness.agentName)
  agree(agent?.stateName === 'Running', agent)
  agree(agent?.config.effective.revision === agent?.config.desired.revision, agent)
  const served = await fetchMark(harness.cache, site.host)
  agree(served.mark === mark, { served, mark, group })
  await agreeOnNames(harness, [site, ...beside])
  const foreign = await readdir(join(harness.agentStateDir, 'foreign'))
  const isOfStart = (file: string): boolean => file.endsWith('-boot.vcl')
  agree(foreign.every(isOfStart), foreign)
  return mark
}

async function agreeOnNames(harness: Harness, sites: readonly Site[]): Promise<void> {
  const names = await listVcls(harness.cache)
  let known = names.includes('cf-idle') ? 1 : 0
  for (const { id, host } of sites) {
    const ours = names.filter((name) => name.startsWith(`cf-${id}-`))
    agree(ours.length <= 2, names)
    known += ours.length
    if (host !== undefined && names.includes(`cf-l-${id}`)) known += 1
  }
  const routing = names.filter((name) => name.startsWith('cf-r-'))
  agree(routing.length === (sites.some(({ host }) => host !== undefined) ? 1 : 0), names)
  agree(names.length === known + routing.length, names)
}

/** The mark that is deployed according to the group's status: the version in the history entry of its revision. */
async function readDeployedMark(harness: Harness, site: Site, group: GroupView): Promise<string> {
  const history = await harness.api.readHistory(site.id)
  const entry = history.find(({ revision }) => revision === group.revision)
  const mark = entry && site.marks.get(entry.mainVCL.version)
  if (mark === undefined) throw new Error(`no history of revision ${group.revision ?? 'null'}`)
  return mark
}

function agree(is: boolean, seen: unknown): void {
  if (!is) throw new Error(`no agreement: ${JSON.stringify(seen)}`)
}

export interface Traffic {
  /** Answers other than 200, each listed once. */
  readonly failures: ReadonlySet<string>
  /** Marks that were served since `forget`. */
  readonly marks: ReadonlySet<string>
  readonly count: () => number
  forget(): void
  stop(): Promise<void>
}

const trafficPauseMs = 10

/** A light load, one request after the other, until the test ends. */
export function startTraffic(t: Test, cache: Varnishd, host?: string): Traffic {
  const failures = new Set<string>()
  const marks = new Set<string>()
  let count = 0
  let isOn = true
  const run = async (): Promise<void> => {
    while (isOn) {
      const { status, mark } = await fetchMark(cache, host)
      count += 1
      if (status !== 200) failures.add(`answered ${status}`)
      else if (mark !== undefined) marks.add(mark)
      await new Promise((resume) => setTimeout(resume, trafficPauseMs))
    }
  }
  const running = run()
  const stop = async (): Promise<void> => {
    isOn = false
    await running
  }
  t.teardown(stop)
  return {
    failures,
    marks,
    count: () => count,
    forget: () => {
      failures.clear()
      marks.clear()
    },
    stop,
  }
}

/**
 * Two coordinators as processes over one PostgreSQL and one NATS, a real cache with its agent at each, and conditions that
 * tests wait for on both.
 */
import type { Test } from 'tap'
import { spreadAddress } from '../../src/agent/link/coordinator-address.js'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import { makeStateDir, startAgent, type CoordinatorProcess } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy, type LinkProxy } from '../support/link-proxy.js'
import type { NatsServer } from '../support/nats.js'
import type { PostgresServer } from '../support/postgres.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  startCoordinators,
  startTraffic,
  untilAgent,
  type Site,
  type Traffic,
} from './harness.js'

export interface End {
  readonly coordinator: CoordinatorProcess
  readonly link: LinkProxy
  readonly cache: Varnishd
  /** The name of the agent beside the cache, which first connects to this coordinator. */
  readonly agentName: string
}

interface Pair {
  readonly here: End
  readonly there: End
  readonly postgres: PostgresServer
  readonly nats: NatsServer
}

const tag = 'web'
/** States of a group (docs/behaviour.md, VCL groups). */
const active = 1
const deploying = 6

export async function startPair(t: Test): Promise<Pair> {
  const words = ['--no-agent', '--heartbeat', '2']
  const [one, two, postgres, nats] = await startCoordinators(t, words)
  const links = await Promise.all([one, two].map(({ port }) => startLinkProxy(t, port)))
  const [linkOne, linkTwo] = links
  if (!linkOne || !linkTwo) throw new Error('there are two links')
  const here = await startEnd(t, one, [linkOne, linkTwo], 'left')
  const there = await startEnd(t, two, [linkTwo, linkOne], 'right')
  return { here, there, postgres, nats }
}

async function startEnd(
  t: Test,
  coordinator: CoordinatorProcess,
  [link, other]: readonly [LinkProxy, LinkProxy],
  agentName: string,
): Promise<End> {
  const cache = await startVarnishd(t, { vcl: answering('foreign') })
  startAgent(t, cache, {
    coordinatorUrl: orderUrls(agentName, link.url, other.url),
    name: agentName,
    stateDir: await makeStateDir(t),
    tags: [tag],
    joinToken: await coordinator.api.makeJoinToken(),
  })
  await untilAgent(coordinator, 'Running', agentName)
  return { coordinator, link, cache, agentName }
}

/** A group that is deployed on both caches, with a light load on them. */
export interface PairedSite {
  readonly pair: Pair
  readonly here: End
  readonly there: End
  readonly site: Site
  readonly traffic: readonly Traffic[]
}

export async function startSite(t: Test): Promise<PairedSite> {
  const pair = await startPair(t)
  const { here, there } = pair
  const site = await makeSite(here.coordinator, 'site', { tag, min: 2, max: 2 })
  await deploySite(here.coordinator, site)
  const traffic = [here, there].map(({ cache }) => startTraffic(t, cache))
  await untilServed(pair, site, 'site-first')
  return { pair, here, there, site, traffic }
}

/** No request failed so far, and refused or discarded VCL was never served. Ends the load. */
export async function checkTraffic(t: Test, { traffic }: PairedSite): Promise<void> {
  for (const one of traffic) {
    t.same([...one.failures], [])
    t.notOk(one.marks.has('never') || one.marks.has('discarded') || one.marks.has('slept'))
    await one.stop()
  }
}

export async function deployMark(site: Site, { coordinator }: End, mark: string): Promise<string> {
  await editSite(coordinator, site, mark)
  expectDone(await coordinator.api.act(site.id, 'deploy'))
  return mark
}

/** The list from which an agent of this name tries `first` first. */
function orderUrls(name: string, first: string, second: string): string {
  const list = `${first},${second}`
  const begins = spreadAddress({ url: list, caFile: null }, name).url
  return begins === first ? list : `${second},${first}`
}

export const apisOf = ({ here, there }: Pair): ApiClient[] => [
  here.coordinator.api,
  there.coordinator.api,
]

/** Waits until both caches serve the mark, and these APIs report the group as Active and applied. */
export async function untilServed(
  pair: Pair,
  site: Site,
  mark: string,
  apis: readonly ApiClient[] = apisOf(pair),
): Promise<void> {
  await eventually(`both serve ${mark}`, async () => {
    for (const { cache } of [pair.here, pair.there]) {
      const served = await fetchMark(cache)
      if (served.mark !== mark) throw new Error(`it serves ${served.mark ?? 'nothing'}`)
    }
    for (const api of apis) {
      const group = await api.readGroup(site.id)
      const states = group.agentStates.map(({ state }) => state).join()
      if (group.state !== active || states !== 'applied,applied')
        throw new Error(JSON.stringify(group))
    }
    return true
  })
}

/** Returns the mark of the deployed revision, once both caches serve it and both APIs report it. */
export async function untilSettled({ here, there }: Pair, site: Site): Promise<string> {
  const { api } = here.coordinator
  return eventually('both caches and APIs match the history', async () => {
    const { revision } = await api.readGroup(site.id)
    const entry = (await api.readHistory(site.id)).find((one) => one.revision === revision)
    const version = await api.call(
      'GET',
      `/files/${site.file}/versions/${entry?.mainVCL.version ?? 0}`,
    )
    const { source } = JSON.parse(version.text) as { source: string } // a version
    for (const end of [here, there]) {
      const { mark = 'nothing' } = await fetchMark(end.cache)
      if (source !== answering(mark)) throw new Error(`it serves ${mark}, wanted is ${source}`)
      const group = await end.coordinator.api.readGroup(site.id)
      const isApplied = group.agentStates.every(
        (place) => place.state === 'applied' && place.revision === revision,
      )
      if (group.revision !== revision || group.state !== active || !isApplied)
        throw new Error(JSON.stringify(group))
    }
    return /"([^"]+)"/.exec(source)?.[1]
  })
}

export async function untilIdle({ here, there }: Pair): Promise<string> {
  for (const { cache } of [here, there])
    await eventually('the cache holds only the idle VCL', async () => {
      return (await listVcls(cache)).join() === 'cf-idle'
    })
  return 'idle'
}

/** A message of the current deploy: agents also send reports after the previous one. */
export function duringDeploy(name: 'apply' | 'applyReport', { id }: Site, api: ApiClient) {
  const onlyIf = async (): Promise<boolean> => (await api.readGroup(id)).state === deploying
  return { name, moment: 'before', fate: 'pass', onlyIf } as const
}

/** Waits until the newest entry of the history is a deploy that its coordinator left. */
export async function untilDiscarded(api: ApiClient, site: Site): Promise<void> {
  await eventually('the deploy is discarded', async () => {
    const [entry] = await api.readHistory(site.id)
    return entry?.revision === null && entry.result.includes('the coordinator stopped')
  })
}

export async function untilReady(pair: Pair): Promise<void> {
  await eventually('both are ready', async () => {
    return (await readReadiness(pair)).every((status) => status === 200)
  })
}

export function readReadiness({ here, there }: Pair): Promise<number[]> {
  return Promise.all(
    [here, there].map(
      async ({ coordinator }) => (await fetch(`${coordinator.base}/readyz`)).status,
    ),
  )
}

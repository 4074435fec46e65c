/** A cache that runs before its agent starts, the agent that adopts its VCL, and the result on the coordinator. */
import type { Test } from 'tap'
import type { AgentView, Reference } from '../support/api-client.js'
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
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

export interface AdoptedAgent extends AgentView {
  readonly adoption: {
    readonly result: string
    readonly error: string | null
    readonly group: Reference | null
    /** Only in the answer for a single agent. */
    readonly difference?: string | null
  } | null
}

interface AdoptedGroup extends Reference {
  readonly stateName: string
  readonly mainVCL: Reference
  readonly includes: readonly Reference[]
  readonly deployments: readonly Reference[]
}

export const intoFleet = ['--adopt-group', 'fleet']

/** Like Harness, but initially without an agent. */
export interface Place {
  readonly cache: Varnishd
  readonly coordinator: CoordinatorProcess
  readonly api: CoordinatorProcess['api']
  readonly link: LinkProxy
  readonly port: ManagementProxy
}

export async function startPlace(t: Test, vcl: string): Promise<Place> {
  const [cache, coordinator] = await Promise.all([
    startVarnishd(t, { vcl }),
    startCoordinator(t, { words: ['--no-agent', '--heartbeat', '2'] }),
  ])
  const link = await startLinkProxy(t, coordinator.port)
  const port = await startManagementProxy(t, cache)
  return { cache, coordinator, api: coordinator.api, link, port }
}

/** Another host with a cache, whose agent connects to the same coordinator, or to another one. */
export async function addHost(
  t: Test,
  { coordinator, link }: Pick<Place, 'coordinator' | 'link'>,
  vcl: string,
): Promise<Place> {
  const cache = await startVarnishd(t, { vcl })
  const port = await startManagementProxy(t, cache)
  return { cache, coordinator, api: coordinator.api, link, port }
}

export interface Adopting {
  readonly stateDir: string
  agent: Daemon
  startAgent(): void
}

export async function adopt(
  t: Test,
  place: Place,
  name: string,
  words: readonly string[] = [],
): Promise<Adopting> {
  const { cache, link, port, api } = place
  const stateDir = await makeStateDir(t)
  const launch = (joinToken?: string): Daemon =>
    startAgent(t, cache, {
      coordinatorUrl: link.url,
      name,
      stateDir,
      port: port.port,
      words: ['--takeover', 'adopt', ...words],
      ...(joinToken === undefined ? {} : { joinToken }),
    })
  const joinToken = await api.makeJoinToken()
  const adopting: Adopting = {
    stateDir,
    // A token is used once; if a killed agent did not use it, the next one can.
    agent: launch(joinToken),
    startAgent: () => {
      adopting.agent = launch(joinToken)
    },
  }
  return adopting
}

export async function readAdopted({ api }: Place, name: string): Promise<AdoptedGroup> {
  const { text } = await api.call('GET', `/vclgroups?name=${name}*`)
  const groups = JSON.parse(text) as AdoptedGroup[] // as in the API's schema
  const [group] = groups
  if (!group || groups.length > 1) throw new Error(`groups: ${text}`)
  return group
}

/** Waits until the group is Active, the agent holds it, and no drift is reported. */
export function untilAdopted(
  place: Place,
  name: string,
  groupName = `adopted-${name}`,
): Promise<AdoptedGroup> {
  return eventually(`${name} is adopted`, async () => {
    const agent = (await place.api.findAgent(name)) as AdoptedAgent | undefined
    if (!agent || !isHolding(agent) || agent.adoption?.result !== 'adopted')
      throw new Error(JSON.stringify(agent))
    const group = await readAdopted(place, groupName)
    if (group.stateName !== 'Active') throw new Error(JSON.stringify(group))
    return group
  })
}

function isHolding({ stateName, config, drift }: AdoptedAgent): boolean {
  const { desired, effective } = config
  const isHeld = desired.revision === 2 && effective.revision === 2
  return stateName === 'Running' && isHeld && drift === null
}

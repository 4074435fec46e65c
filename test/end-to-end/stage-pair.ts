/** Two caches, each with its agent, and calls about their stages. */
import type { Test } from 'tap'
import { answering, listVcls } from '../support/observe-cache.js'
import { makeStateDir, startAgent } from '../support/daemon.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { startHarness, untilAgent, type Harness } from './harness.js'

export const secondName = 'second'

export interface Pair extends Harness {
  /** With its own agent, which has the tags `canary` and `late`. */
  readonly second: Varnishd
}

export async function startPair(t: Test, coordinators: 1 | 2 = 1): Promise<Pair> {
  const harness = await startHarness(t, { coordinators })
  const second = await startVarnishd(t, { vcl: answering('foreign') })
  startAgent(t, second, {
    coordinatorUrl: `ws://127.0.0.1:${harness.coordinator.port}`,
    name: secondName,
    stateDir: await makeStateDir(t),
    tags: ['canary'],
    joinToken: await harness.api.makeJoinToken(),
  })
  await untilAgent(harness, 'Running')
  await untilAgent(harness, 'Running', secondName)
  return { ...harness, second }
}

interface Staged {
  readonly tags: readonly { readonly name: string }[]
  readonly domains: readonly { readonly fqdn: string }[]
  readonly mainVCL: { readonly id: number; readonly name: string; readonly version: number }
  readonly includes: readonly unknown[]
}

export async function readGroup({ api }: Harness, id: number) {
  const { text } = await api.call('GET', `/vclgroups/${id}`)
  // As in its schema.
  return JSON.parse(text) as {
    readonly staged: Staged | null
    readonly stateName: string
    readonly revision: number
    readonly mainVCL: { readonly id: number }
  }
}

export function stage({ api }: Harness, groupId: number, body: unknown) {
  return api.call('PUT', `/vclgroups/${groupId}/stage`, body)
}

/** The newest first, as action and result. */
export async function readActions({ api }: Harness, groupId: number): Promise<string[]> {
  return (await api.readHistory(groupId)).map(({ action, result, revision }) =>
    [action, result.split(' ')[0], revision].join(' '),
  )
}

/** The loaded VCLs of a group, and its labels. */
export async function listOf(cache: Varnishd, groupId: number): Promise<string[]> {
  const names = await listVcls(cache)
  return names.filter((name) => new RegExp(`^cf-(?:[ls]-)?${groupId}(?:-|$)`).test(name))
}

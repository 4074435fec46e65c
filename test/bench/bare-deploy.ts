/** The minimum time of a deploy on this machine: the same messages over bare WebSockets and the same rows, without any decisions. */
import type { TestEnd } from '../support/daemon.js'
import type { ClientsOrder } from './bare-clients.js'
import type { HubOrder, HubAnswer } from './bare-hub.js'
import { startChild } from './child.js'
import { median } from './figure.js'
import { compileMs } from './fleet-harness.js'

const rounds = 3
const desired = {
  load: [{ name: 'cf-1-0123abcd-1', sha: '0'.repeat(64) }],
  labels: [],
  active: 'cf-1-0123abcd-1',
}

/** Milliseconds in addition to the compilation. */
export async function measureBareDeploy(t: TestEnd, size: number): Promise<number> {
  const endings: (() => Promise<void>)[] = []
  const end = { teardown: (stop: () => Promise<void>) => endings.push(stop) }
  t.teardown(() => endAll(endings))
  const hub = startChild<HubOrder, HubAnswer>(end, 'bare-hub.ts')
  const { url } = await hub.receive()
  await startChild<ClientsOrder, object>(end, 'bare-clients.ts').ask({
    url,
    count: size,
    compileMs,
  })
  const tookMs: number[] = []
  for (let round = 0; round < rounds; round++) tookMs.push((await hub.ask({ desired })).tookMs)
  await endAll(endings)
  return median(tookMs) - compileMs
}

async function endAll(endings: (() => Promise<void>)[]): Promise<void> {
  for (const end of endings.splice(0).toReversed()) await end()
}

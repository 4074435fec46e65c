/** Deploys to a fleet while all resulting events are sent to a webhook, against the same without one. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { formatCount, formatMs, median, type Report } from './figure.js'
import {
  compileMs,
  makeFleetGroup,
  startFleet,
  timeVerb,
  untilAllApplied,
  untilAllRun,
  writeVcl,
} from './fleet-harness.js'
import { readCpuMs } from './process-reading.js'

const size = 1_000
const rounds = 5
const settleLimitMs = 120_000
/** Polling costs the coordinator time, too. */
const pollMs = 500

export async function measureWebhooks(t: TestEnd, report: Report): Promise<void> {
  const { api, base, daemon } = await startCoordinator(t)
  const joinToken = await api.makeJoinToken(size + 1)
  const fleet = await startFleet(t, { size, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  const group = await makeFleetGroup(api, { tag: 'simulated', max: size })
  const receiver = await startReceiver(t)
  const types = ['agent', 'deployment', 'problem', 'apilog']
  const id = await api.make('/webhooks', { name: 'all', url: receiver.url, types })
  const took = { with: [] as number[], without: [] as number[] }
  const cpu = { with: [] as number[], without: [] as number[] }
  const cpuOfDeploy = { with: [] as number[], without: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const enabled of [false, true]) {
      await api.call('PUT', `/webhooks/${id}`, { enabled })
      await api.editFile(group.fileId, writeVcl(`${round}-${enabled}`))
      const which = enabled ? 'with' : 'without'
      const cpuBeforeMs = await readCpuMs(daemon.pid)
      took[which].push((await timeVerb(api, group.id, 'deploy')) - compileMs)
      cpuOfDeploy[which].push((await readCpuMs(daemon.pid)) - cpuBeforeMs)
      await untilAllApplied(api, fleet, { id: group.id, size })
      await untilDelivered()
      cpu[which].push((await readCpuMs(daemon.pid)) - cpuBeforeMs)
    }
  const [withMs, withoutMs] = [median(took.with), median(took.without)]
  report({
    name: `webhooks: deploy of a changed source to ${size}, beyond compile, median of ${rounds}`,
    measured: formatMs(withMs),
    baseline: `without a webhook ${formatMs(withoutMs)}; CPU of the coordinator until its answer ${formatMs(median(cpuOfDeploy.with))}, without ${formatMs(median(cpuOfDeploy.without))}`,
    ratio: withMs / withoutMs,
    goal: '<= 1.1',
    isMet: withMs <= 1.1 * withoutMs,
  })
  report({
    name: 'webhooks: CPU of the coordinator until all is delivered',
    measured: formatMs(median(cpu.with)),
    baseline: `without a webhook ${formatMs(median(cpu.without))}; ${formatCount(receiver.count / rounds)} deliveries a deploy`,
    ratio: median(cpu.with) / median(cpu.without),
    goal: null,
  })

  async function untilDelivered(): Promise<void> {
    await eventually(
      'all is delivered',
      async () => {
        await pause(pollMs)
        const { text } = await api.call('GET', `/webhooks/${id}`)
        return (JSON.parse(text) as { waiting: number }).waiting === 0 // a webhook
      },
      settleLimitMs,
    )
  }
}

async function startReceiver(t: TestEnd): Promise<{ readonly url: string; count: number }> {
  const receiver = { url: '', count: 0 }
  const server = createServer((request, response) => {
    receiver.count++
    request.resume().on('end', () => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens
  receiver.url = `http://127.0.0.1:${port}/`
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return receiver
}

/** The live log of a real cache that two organizations share: who reads what, and what leaves the host (docs/behaviour.md, Live log). */
import { connect } from 'node:net'
import t from 'tap'
import { answering } from '../support/observe-cache.js'
import { logIn, type ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import { heard, listen } from '../support/event-client.js'
import { expectDone, startHarness, untilAgent, type Harness } from './harness.js'

const password = 'long enough a word'

void t.test('the live log of a shared cache', { timeout: 200_000 }, async (t) => {
  const harness = await startHarness(t, { agentWords: ['--mask-headers', 'X-Session'] })
  await untilAgent(harness, 'Running')
  const { api, cache } = harness
  const azure = await settle(harness, 'azure')
  const crimson = await settle(harness, 'crimson')
  const { base } = harness.coordinator
  const read = (who: ApiClient, query = '') =>
    listen(t, base, { token: who.token, path: '/logs', query })
  const ask = (host: string, path: string, headers: readonly string[] = []) =>
    send(
      cache.httpPort,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers.map((one) => `${one}\r\n`).join('')}`,
    )

  await t.test('each organization reads its own requests, the administrator all', async (t) => {
    const readers = await Promise.all([azure.api, crimson.api, api].map((who) => read(who)))
    const [ofAzure, ofCrimson, ofAll] = readers
    if (!ofAzure || !ofCrimson || !ofAll) throw new Error('three listen')
    await eventually('all read', async () => {
      await ask('azure.example', '/first')
      await ask('crimson.example', '/first')
      return readers.every(({ events }) => events.length > 0)
    })
    await ask('azure.example', '/of-azure')
    await ask('crimson.example', '/of-crimson', ['X-Forge: azure.example', 'Host: azure.example'])
    await ask('nobody.example', '/of-nobody')
    await heard(ofAll, 'transaction', { url: '/of-nobody', vclGroup: null, status: 404 })
    await heard(ofAzure, 'transaction', {
      url: '/of-azure',
      handling: 'synth',
      host: 'azure.example',
    })
    await heard(ofAll, 'transaction', { url: '/of-crimson' })
    t.same(
      [...new Set(ofAzure.of('transaction').map(({ data }) => data['url']))],
      ['/first', '/of-azure'],
    )
    t.notMatch(JSON.stringify(ofCrimson.events), /of-azure|of-nobody|azure"/)
    for (const reader of readers) reader.close()
  })
})

interface Tenant {
  readonly api: ApiClient
  readonly group: number
}

async function settle({ coordinator, api, agentTag }: Harness, name: string): Promise<Tenant> {
  const id = await api.make('/organizations', { name })
  await api.make('/accounts', { name, password, organization: { id } })
  const own = await logIn(coordinator.base, { user: name, password, org: name })
  const file = await own.makeFile(`${name}.vcl`, answering(name))
  const deployment = await own.makeDeployment(name, await own.findTag(agentTag))
  const domain = await own.make('/domains', { fqdn: `${name}.example` })
  const group = await own.make('/vclgroups', {
    ...{
      name,
      mainVCL: { id: file },
      domains: [{ id: domain }],
      deployments: [{ id: deployment }],
    },
  })
  expectDone(await own.act(group, 'deploy'))
  return { api: own, group }
}

function send(port: number, head: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .on('error', () => undefined)
      .on('close', () => resolve())
      .resume()
    socket.end(`${head}Connection: close\r\n\r\n`)
  })
}

/**
 * The live log of a real cache that two organizations share: which requests each reads, and which data leaves the host
 * (docs/behaviour.md, Live log). Read from one coordinator, for an agent that is connected to another.
 */
import { connect } from 'node:net'
import t from 'tap'
import { logIn, type ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import { heard, listen, type EventClient } from '../support/event-client.js'
import { findLogTools, runsFor } from '../support/log-tools.js'
import type { LoggedPart } from '../../src/resources/logged-transaction.js'
import { logging } from './logging-vcl.js'
import { startOrigin } from './origin.js'
import { expectDone, startHarness, untilAgent, type Harness } from './harness.js'

const password = 'long enough a word'

void t.test('the live log of a shared cache', async (t) => {
  const harness = await startHarness(t, {
    agentWords: ['--mask-headers', 'X-Session', '--sample-rate', '0'],
    coordinators: 2,
  })
  await untilAgent(harness, 'Running')
  const { api, cache } = harness
  await eventually('the agent can read the log', async () => {
    const [agent] = await api.listAgents()
    return agent?.capabilities.includes('log') === true
  })
  const origin = await startOrigin(t, 'azure')
  origin.answers.set(
    '/page',
    '<esi:include src="/own-part"/><esi:include src="http://crimson.example/part"/>',
  )
  const azure = await settle(harness, { name: 'azure', vcl: logging('azure', origin.port) })
  const crimson = await settle(harness, { name: 'crimson', vcl: logging('crimson', origin.port) })
  const { base } = harness.coordinator
  const read = (who: ApiClient, query = '') =>
    listen(t, base, { token: who.token, path: '/logs', query })
  const ask = (host: string, path: string, headers: readonly string[] = []) =>
    send(
      cache.httpPort,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers.map((one) => `${one}\r\n`).join('')}`,
    )

  await t.test('each organization reads its own requests, and the administrator all', async (t) => {
    const readers = await Promise.all([azure.api, crimson.api, api].map((who) => read(who)))
    const [ofAzure, ofCrimson, ofAll] = readers
    if (!ofAzure || !ofCrimson || !ofAll) throw new Error('three listen')
    await eventually('all read', async () => {
      await ask('azure.example', '/first')
      await ask('crimson.example', '/first')
      return readers.every(({ events }) => events.length > 0)
    })
    await ask('azure.example', '/of-azure')
    // Some releases refuse it.
    await ask('crimson.example', '/twice', ['X-Forge: azure.example', 'Host: azure.example'])
    await ask('crimson.example', '/of-crimson')
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

  await t.test('a query filters the log', async (t) => {
    const reader = await read(
      api,
      `?q=${encodeURIComponent('RespStatus == 404')}&fields=url,status`,
    )
    await eventually('the first match is read', async () => {
      await ask('azure.example', '/found')
      await ask('nobody.example', '/missing')
      return reader.events.length > 0
    })
    t.match(reader.of('transaction')[0]?.data, { url: '/missing', status: 404 })
    t.same(Object.keys(reader.of('transaction')[0]?.data ?? {}), ['url', 'status'])
    t.notMatch(JSON.stringify(reader.events), '/found')
    reader.close()
  })

  await t.test(
    'a query on masked headers is refused, be they masked by default or by the agent',
    async (t) => {
      const refused = await read(api, `?q=${encodeURIComponent('ReqHeader:Cookie ~ "a"')}`)
      t.equal(refused.status, 400)
      const reader = await read(api, `?q=${encodeURIComponent('ReqHeader:X-Session eq "a"')}`)
      await heard(reader, 'ended', {
        reason: 'q, position 1: X-Session is masked, so it is not compared',
      })
      await eventually('the stream has ended', () => reader.closed)
    },
  )

  await t.test('client addresses are truncated for readers without permission', async (t) => {
    const login = { name: 'watcher', password, organization: { id: azure.organization } }
    const account = { id: await api.make('/accounts', login) }
    for (const type of ['agent', 'log'])
      await api.make('/permissions', {
        account,
        organization: login.organization,
        type,
        read: true,
      })
    const watcher = await logIn(harness.coordinator.base, {
      user: 'watcher',
      password,
      org: 'azure',
    })
    const [whole, cut] = await Promise.all([read(azure.api), read(watcher)])
    await eventually('both read', async () => {
      await ask('azure.example', '/address')
      return whole.events.length > 0 && cut.events.length > 0
    })
    t.equal(whole.of('transaction')[0]?.data['client'], '127.0.0.1')
    t.match(cut.of('transaction')[0]?.data, { client: '127.0.0.0', vclGroup: null })
    for (const reader of [whole, cut]) reader.close()
  })

  await t.test('a request has its whole record, without secrets', async (t) => {
    const [own, all, plain] = await readPage()
    const page = findRecorded(own, '/page')
    t.same(Object.keys(page), [...compared, 'records', 'recordsLeftOut'])
    t.match(page, { handling: 'miss', recordsLeftOut: 0 })
    t.match(page.records[0], { kind: 'request', xid: page.xid, reason: 'rxreq' })
    const made = page.records.filter(({ parentXid }) => parentXid === page.xid)
    t.same(
      new Set(made.map(({ kind, reason }) => `${kind} ${reason}`)),
      new Set(['fetch fetch', 'request esi']),
    )
    const tags = page.records.flatMap(({ records }) => records.map(({ tag }) => tag))
    for (const tag of ['ReqMethod', 'VCL_call', 'Timestamp', 'BerespStatus', 'BereqAcct'])
      t.ok(tags.includes(tag), tag)
    t.match(JSON.stringify(page), /Cookie: \[masked\].*X-Session: \[masked\].*X-Seen: yes/)
    t.notMatch(JSON.stringify([own.events, all.events]), /secret/)
    const restarted = findRecorded(own, '/again')
    t.match(restarted.records, [{ reason: 'rxreq' }, { reason: 'restart' }])
    t.notMatch(JSON.stringify([own.events, all.events]), '/forged', 'VCL cannot forge records')
    for (const url of ['/page', '/again', '/forging']) {
      const [detailed, short] = [own, plain].map((reader) => {
        const data = findRecorded(reader, url)
        return Object.fromEntries(compared.map((name) => [name, data[name]]))
      })
      t.same(detailed, short, `${url}: the same facts as without records`)
    }
    for (const reader of [own, all, plain]) reader.close()
  })

  await t.test('a page’s record holds only parts that the reader’s own VCL answered', async (t) => {
    const readers = await readPage()
    const [own, all] = readers
    const [ofOwn, ofAll] = [own, all].map((reader) => findRecorded(reader, '/page').records)
    const count = (parts: typeof ofOwn) => parts?.filter(({ kind }) => kind === 'request').length
    // On some releases, the VCL of the page answers its parts, too.
    const isOfOther = JSON.stringify(ofAll).includes('X-Own: of-crimson')
    t.same([count(ofOwn), count(ofAll)], [isOfOther ? 2 : 3, 3])
    t.notMatch(JSON.stringify(own.events), 'of-crimson')
    const urls = readers.flatMap((one) => one.of('transaction').map(({ data }) => data['url']))
    t.notMatch(urls.join(' '), 'part', 'they are no requests of clients')
    for (const reader of readers) reader.close()
  })

  /** A page that includes a part of another site, read with records by its owner and by the administrator, and without records. */
  async function readPage(): Promise<readonly [EventClient, EventClient, EventClient]> {
    const detail = '?detail=true'
    const readers = await Promise.all([
      read(azure.api, `${detail}&fields=${compared.join(',')}`),
      read(api, detail),
      read(azure.api),
    ])
    await eventually('all read', async () => {
      await ask('azure.example', '/record')
      return readers.every(({ events }) => events.length > 0)
    })
    for (const path of ['/forging', '/restarted']) await ask('azure.example', path)
    await ask('azure.example', '/page', ['Cookie: secret', 'X-Session: secret', 'X-Seen: yes'])
    await Promise.all(readers.map((reader) => heard(reader, 'transaction', { url: '/page' })))
    return readers
  }

  await t.test('top lists count only requests that the reader’s own VCL answered', async (t) => {
    const countBoth = async () => {
      const counts = [azure.api, crimson.api].map((who) =>
        who.call('GET', '/top?by=url&seconds=5&q=ReqURL%20~%20%22top%22'),
      )
      const over = new AbortController()
      const ended = Promise.all(counts).finally(() => {
        over.abort()
      })
      while (!over.signal.aborted) {
        await ask('azure.example', '/top')
        await ask('crimson.example', '/top')
      }
      return (await ended).map(({ status, body }) => ({ status, body: body as unknown }))
    }
    const lists = await eventually('both were counted in time', async () => {
      const some = await countBoth()
      return some.some(({ body }) => Array.isArray(body) && body.length === 0) ? undefined : some
    })
    t.match(lists, [
      { status: 200, body: [{ key: 'azure.example/top', share: 1 }] },
      { status: 200, body: [{ key: 'crimson.example/top', share: 1 }] },
    ])
  })

  await t.test('a hundred readers neither end a link nor delay a deploy', async (t) => {
    const readers = await Promise.all(
      Array.from({ length: 100 }, () => read(api, '?limit=1000&detail=true')),
    )
    const [quick, slow] = [readers.slice(0, 50), readers.slice(50)]
    for (const reader of slow) reader.pause()
    await eventually('they read', async () => {
      await ask('azure.example', '/crowd')
      return quick.every(({ events }) => events.length > 0)
    })
    harness.link.forget()
    const startedAtMs = performance.now()
    const over = new AbortController()
    const asking = (async () => {
      while (!over.signal.aborted) await ask('azure.example', '/crowd')
    })()
    for (let round = 0; round < 3; round++) expectDone(await azure.api.act(azure.group, 'reload'))
    await eventually('lines and heartbeats arrive', () =>
      ['logLines', 'heartbeat'].every((kind) => harness.link.count(kind) > 0),
    )
    over.abort()
    await asking
    const seconds = (performance.now() - startedAtMs) / 1000
    const messages = harness.link.count('logLines')
    t.ok(messages < 200 * (seconds + 1), `${messages} messages in ${seconds} s`)
    t.equal(harness.link.count('hello'), 0, 'the link is the same')
    for (const reader of readers) reader.close()
  })

  await t.test('lines over the limit are counted', async (t) => {
    const reader = await read(azure.api, '?limit=1')
    await eventually('lines are dropped', async () => {
      await Promise.all(Array.from({ length: 5 }, () => ask('azure.example', '/many')))
      return reader.of('dropped').length > 0
    })
    t.ok(reader.of('transaction').length > 0)
    reader.close()
  })

  await t.test(
    'a log tool that dies is restarted, also for a new process of the cache',
    async (t) => {
      const reader = await read(azure.api)
      const reads = (path: string) =>
        eventually(`${path} is read`, async () => {
          await ask('azure.example', path)
          return reader.of('transaction').some(({ data }) => data['url'] === path)
        })
      await reads('/before')
      // The agent would not restart a tool that ended at once.
      await eventually('the tool has run for a while', () => runsFor(cache.workDir, 2))
      for (const pid of await findLogTools(cache.workDir)) process.kill(pid, 'SIGKILL')
      await reads('/after-the-tool')
      await cache.restart()
      await untilAgent(harness, 'Running')
      await reads('/after-the-cache')
      t.same(reader.of('ended'), [])
      reader.close()
      await eventually(
        'no tool is left',
        async () => (await findLogTools(cache.workDir)).length === 0,
      )
    },
  )
})

/** Fields that are the same with both tools. */
const compared = [
  'method',
  'host',
  'url',
  'status',
  'handling',
  'bytes',
  'backend',
  'client',
  'xid',
]

interface RecordedRequest extends Record<string, unknown> {
  readonly xid: number
  readonly records: readonly LoggedPart[]
}

function findRecorded(reader: EventClient, url: string): RecordedRequest {
  const event = reader.of('transaction').find(({ data }) => data['url'] === url)
  if (!event) throw new Error(`${url} was not read`)
  return event.data as RecordedRequest // with detail=true
}

interface Tenant {
  readonly api: ApiClient
  readonly group: number
  readonly organization: number
}

async function settle(
  { coordinator, api, agentTag }: Harness,
  { name, vcl }: { readonly name: string; readonly vcl: string },
): Promise<Tenant> {
  const id = await api.make('/organizations', { name })
  await api.make('/accounts', { name, password, organization: { id } })
  const own = await logIn(coordinator.base, { user: name, password, org: name })
  const file = await own.makeFile(`${name}.vcl`, vcl)
  const deployment = await own.makeDeployment(name, await own.findTag(agentTag))
  const domain = await own.make('/domains', { fqdn: `${name}.example` })
  const group = await own.make('/vclgroups', {
    name,
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  expectDone(await own.act(group, 'deploy'))
  return { api: own, group, organization: id }
}

function send(port: number, head: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .on('error', () => undefined)
      .on('close', () => {
        resolve()
      })
      .resume()
    socket.end(`${head}Connection: close\r\n\r\n`)
  })
}

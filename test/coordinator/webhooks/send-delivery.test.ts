/** One delivery over a real socket: the address it connects to, whatever a name resolves to, and its longest duration. */
import t, { type Test } from 'tap'
import { compileNetworks } from '../../../src/coordinator/http/networks.js'
import type { ResolveName } from '../../../src/coordinator/http/judged-lookup.js'
import { sendDelivery } from '../../../src/coordinator/webhooks/send-delivery.js'
import { startReceiver } from './receiver.js'

const rules = {
  isAllowed: compileNetworks(['127.0.0.1']),
  hasNetworks: true,
  isAdministrators: false,
}
const message = { body: '{"id":1,"type":"test"}', signature: 't=1,v1=0', rules }

/** Each call resolves to the next of these. */
function resolveTo(...answers: readonly (readonly string[])[]) {
  const asked: string[] = []
  const resolveName: ResolveName = (hostname, _, done) => {
    const addresses = answers[asked.push(hostname) - 1] ?? []
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { asked, resolveName }
}

const portOf = (url: string): string => new URL(url).port

void t.test('it connects to the address that was checked, and resolves once', async (t) => {
  const receiver = await startReceiver(t)
  // The second answer would be refused, but is never requested.
  const { asked, resolveName } = resolveTo(['127.0.0.1'], ['169.254.169.254'])
  const url = `http://hooks.example:${portOf(receiver.url)}/a`
  const { signal } = new AbortController()

  t.match(await sendDelivery({ ...message, url, signal, resolveName }), { isDelivered: true })

  t.same(asked, ['hooks.example'])
  t.equal(receiver.received.length, 1)
})

void t.test('a name with one forbidden address is not called', async (t) => {
  const receiver = await startReceiver(t)
  const url = `http://hooks.example:${portOf(receiver.url)}/a`
  for (const hidden of ['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe'])
    await isRefused(t, url, ['127.0.0.1', hidden])
  await isRefused(t, url, ['127.0.0.2'])
  t.same(receiver.received, [])
})

async function isRefused(t: Test, url: string, addresses: readonly string[]): Promise<void> {
  const { signal } = new AbortController()
  const { resolveName } = resolveTo(addresses)
  t.match(
    await sendDelivery({ ...message, url, signal, resolveName }),
    { isDelivered: false, status: null, error: /^its address is / },
    addresses.join(),
  )
}

void t.test('a hanging delivery times out, and an aborted one is no attempt', async (t) => {
  const stopping = new AbortController()
  const receiver = await startReceiver(t, () => undefined)
  const { url } = receiver
  t.match(await sendDelivery({ ...message, url, signal: stopping.signal, timeoutMs: 500 }), {
    isDelivered: false,
    status: null,
    error: 'no answer within 0.5 s',
  })
  receiver.answer = () => {
    stopping.abort()
  }
  await t.rejects(sendDelivery({ ...message, url, signal: stopping.signal }), {
    name: 'AbortError',
  })
})

void t.test('a received status counts, though the body never ends', async (t) => {
  const { signal } = new AbortController()
  const { url } = await startReceiver(t, (response) => {
    response.writeHead(200).write('the beginning')
  })
  t.match(await sendDelivery({ ...message, url, signal, timeoutMs: 5_000 }), {
    isDelivered: true,
    status: 200,
  })
})

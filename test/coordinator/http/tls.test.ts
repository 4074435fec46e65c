/**
 * The attacks on TLS that every connection with a credential must survive: one test each, named after its line in the checklist.
 * Certificate reload: listener.test.ts.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { fetchSource } from '../../../src/agent/link/coordinator-http.js'
import { dialCoordinator } from '../../../src/agent/link/dial.js'
import {
  createProviderFetch,
  ProviderFault,
} from '../../../src/coordinator/identity/provider-http.js'
import { eventually } from '../../support/eventually.js'
import { makeCertificate } from '../../support/certificate.js'
import { root } from '../../support/root.js'
import { startController } from '../../support/start-controller.js'

const secret = 'a key that nobody else may hear'
/** Self-signed, for localhost and 127.0.0.1. */
const own = join(root, 'test/fixtures/tls/one.crt')
const other = join(root, 'test/fixtures/tls/two.crt')

interface Listener {
  readonly port: number
  /** The authorization headers of the calls that came through. */
  readonly credentials: readonly string[]
}

/** Answers 401 to every caller that trusts its certificate. */
async function startListener(t: Test, certFile: string, keyFile: string): Promise<Listener> {
  const credentials: string[] = []
  const server: Server = createServer(
    { cert: await readFile(certFile), key: await readFile(keyFile) },
    (request, response) => {
      credentials.push(request.headers.authorization ?? '')
      response.writeHead(401).end()
    },
  )
  server.on('upgrade', (request, socket) => {
    credentials.push(request.headers.authorization ?? '')
    socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // of a TCP listener
  return { port, credentials }
}

/** Every call by which a credential leaves for a coordinator. */
function callersOf(port: number, caFile: string | null): Record<string, () => Promise<unknown>> {
  const address = { url: `wss://127.0.0.1:${port}`, caFile }
  const { signal } = new AbortController()
  return {
    'the link': () => dialCoordinator({ address, signal, name: 'edge', key: secret, joinToken }),
    'the calls beside it': () => fetchSource({ address, key: secret, signal }, 'a'.repeat(64)),
  }
}

const joinToken = (): Promise<undefined> => Promise.resolve(undefined)

void t.test('Network: TLS: self-signed surprise, wrong SAN', async (t) => {
  const folder = t.testdir()
  const [certFile, keyFile] = [join(folder, 'elsewhere.crt'), join(folder, 'elsewhere.key')]
  await makeCertificate(certFile, keyFile, 'elsewhere.test')
  const right = await startListener(t, own, own.replace('.crt', '.key'))
  const elsewhere = await startListener(t, certFile, keyFile)

  for (const [name, port, caFile, code] of [
    ['signed by itself', right.port, null, /SELF_SIGNED/],
    ['signed by another', right.port, other, /SELF_SIGNED|VERIFY|ISSUER|SIGNATURE/],
    ['for another host', elsewhere.port, certFile, /ALTNAME/],
  ] as const)
    for (const [what, call] of Object.entries(callersOf(port, caFile)))
      await t.rejects(call(), { code }, `${what}: ${name}`)
  t.same([...right.credentials, ...elsewhere.credentials], [], 'no credential was sent')

  for (const [what, call] of Object.entries(callersOf(right.port, own)))
    await t.rejects(call(), /401/, what)
  t.same([...new Set(right.credentials)], [`Agent ${secret}`], 'the trusted listener receives it')
})

void t.test('Network: TLS: an identity provider that is not who it should be', async (t) => {
  const { port, credentials } = await startListener(t, own, own.replace('.crt', '.key'))
  const request = { method: 'POST', headers: { authorization: secret } }
  const refused = createProviderFetch()(`https://127.0.0.1:${port}/token`, request)
  await t.rejects(refused, ProviderFault)
  t.same(credentials, [])
})

void t.test('Network: TLS downgrade', async (t) => {
  const tls = { certFile: own, keyFile: own.replace('.crt', '.key') }
  const { base } = await startController(t, { http: { tls } })
  const port = Number(new URL(base).port)

  const plain = connect(port, '127.0.0.1')
  let heard = ''
  plain.on('data', (chunk) => (heard += chunk.toString('latin1')))
  plain.on('error', () => undefined)
  plain.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await eventually('a plain connection is cut off', () => plain.closed)
  t.notMatch(heard, /alive|200 OK/)

  for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const)
    await t.rejects(shakeHands(port, maxVersion), maxVersion)
  t.equal(await shakeHands(port, 'TLSv1.2'), 'TLSv1.2')
  t.equal(await shakeHands(port, 'TLSv1.3'), 'TLSv1.3')

  const address = { url: `ws://127.0.0.1:${port}`, caFile: null }
  const { signal } = new AbortController()
  await t.rejects(
    dialCoordinator({ address, signal, name: 'edge', key: secret, joinToken }),
    'an agent without TLS is refused',
  )
})

/** Returns the negotiated TLS version. */
function shakeHands(
  port: number,
  maxVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3',
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      // OpenSSL itself allows the old versions at this security level only.
      {
        port,
        host: '127.0.0.1',
        minVersion: 'TLSv1',
        maxVersion,
        rejectUnauthorized: false,
        ciphers: 'ALL:@SECLEVEL=0',
      },
      () => {
        resolve(socket.getProtocol())
        socket.destroy()
      },
    )
    socket.on('error', reject)
  })
}

/** Join tokens that name a CA: the agent trusts this CA from the first byte on, and no other. */
import { once } from 'node:events'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createCaPin } from '../../../src/agent/link/ca-pin.js'
import { explainFailure } from '../../../src/agent/link/explain-failure.js'
import {
  issueCa,
  issueServerCertificate,
  type Issued,
} from '../../../src/coordinator/tls/issue-certificate.js'
import { fingerprintOf } from '../../../src/runtime/fingerprint.js'
import { parseJoinToken, printJoinToken } from '../../../src/resources/join-token-text.js'
import { makeStateDir } from '../../support/daemon.js'
import { caFileIn, dial, startOwnCoordinator } from './running.js'

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const textOf = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...Array.from(base64url)),
    minLength: length,
    maxLength: length,
  })

void t.test('a join token is parsed as printed, with a fingerprint and without', (t) => {
  fc.assert(
    fc.property(textOf(43), fc.option(textOf(43)), (token, fingerprint) => {
      t.same(parseJoinToken(printJoinToken({ token, fingerprint })), { token, fingerprint })
    }),
  )
  fc.assert(
    fc.property(textOf(43), textOf(43), fc.nat(90), (token, fingerprint, cut) => {
      const part = printJoinToken({ token, fingerprint }).slice(0, 4 + (cut % 86))
      return parseJoinToken(part) === null
    }),
  )
  t.end()
})

void t.test('an agent trusts the CA of its token at first, and stores it', async (t) => {
  const folder = await makeStateDir(t)
  const { port, makeToken, stateDir } = await startOwnCoordinator(t, await makeStateDir(t))
  const url = `wss://127.0.0.1:${port}`
  const token = await makeToken()
  t.match(token, /^cf1\.[\w-]{43}\.[\w-]{43}$/)

  await dial({ url, folder, token })

  const kept = await readFile(caFileIn(folder), 'utf8')
  t.equal((await stat(caFileIn(folder))).mode & 0o777, 0o600)
  t.equal(token.split('.')[2], fingerprintOf(kept))
  t.ok((await readFile(join(stateDir, 'ca.pem'), 'utf8')).endsWith(kept))
  await t.rejects(
    dial({ url, folder, isKeyNew: false }),
    /401/,
    'without a token it still trusts the CA',
  )
  await t.rejects(dial({ url, folder: await makeStateDir(t), isKeyNew: false }), {
    code: 'SELF_SIGNED_CERT_IN_CHAIN',
  })
})

void t.test('private keys of a coordinator are readable by its user only', async (t) => {
  const { stateDir } = await startOwnCoordinator(t, await makeStateDir(t))
  for (const name of ['ca.pem', 'server.pem'])
    t.equal((await stat(join(stateDir, name))).mode & 0o777, 0o600, name)
})

void t.test('a coordinator without TLS issues tokens without a fingerprint', async (t) => {
  const { port, makeToken } = await startOwnCoordinator(t, await makeStateDir(t), null)
  const token = await makeToken()
  t.match(token, /^[\w-]{43}$/)
  await dial({ url: `ws://127.0.0.1:${port}`, folder: await makeStateDir(t), token })
})

interface Stranger {
  readonly port: number
  readonly heard: readonly string[]
}

/** Starts a server with a certificate of another CA, such as a proxy that terminates TLS. */
async function startStranger(t: Test): Promise<Stranger> {
  const ca = issueCa(Date.now())
  const { certificate, key } = issueServerCertificate(ca, ['127.0.0.1'], Date.now())
  const heard: string[] = []
  const server = createServer({ cert: certificate + ca.certificate, key }, (request, response) => {
    heard.push(request.headers.authorization ?? '')
    response.writeHead(401).end()
  })
  server.on('upgrade', (request, socket) => {
    heard.push(request.headers.authorization ?? '')
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, heard } // of a TCP listener
}

void t.test('an agent sends nothing to a server of another CA than the token’s', async (t) => {
  const own = await startOwnCoordinator(t, await makeStateDir(t))
  const stranger = await startStranger(t)
  const token = await own.makeToken()
  const url = `wss://127.0.0.1:${stranger.port}`
  const folder = await makeStateDir(t)

  await t.rejects(dial({ url, folder, token }), {
    message: /by cachefleet CA \w+ and not by the CA that the join token names .*--tls off/,
  })
  await t.rejects(readFile(caFileIn(folder)), { code: 'ENOENT' }, 'no CA is stored')

  await dial({ url: `wss://127.0.0.1:${own.port}`, folder, token })
  await t.rejects(dial({ url, folder, isKeyNew: false }), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  t.same(stranger.heard, [])
})

void t.test(
  'behind a proxy that terminates TLS tokens name no CA, and its certificate counts',
  async (t) => {
    const ca = issueCa(Date.now())
    const folder = await makeStateDir(t)
    const caFile = join(folder, 'proxy-ca.crt')
    await writeFile(caFile, ca.certificate)

    const plain = await startOwnCoordinator(t, await makeStateDir(t), null)
    const good = await startProxy(t, ca, () => connect(plain.port, '127.0.0.1'))
    const token = await plain.makeToken()
    const url = `wss://127.0.0.1:${good}`
    await t.rejects(dial({ url, folder, token }), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
    await dial({ url, folder, token, caFile })

    const own = await startOwnCoordinator(t, await makeStateDir(t))
    const bad = await startProxy(t, ca, () =>
      connectTls({ port: own.port, host: '127.0.0.1', rejectUnauthorized: false }),
    )
    const pinned = await own.makeToken()
    const beside = { url: `wss://127.0.0.1:${bad}`, folder, token: pinned }
    await t.rejects(dial(beside), /start the coordinators with --tls off and make another token/)
    await dial({ ...beside, caFile })
  },
)

/** Terminates TLS with a certificate of its own and forwards everything. Returns its port. */
async function startProxy(t: Test, ca: Issued, open: () => Duplex): Promise<number> {
  const { certificate, key } = issueServerCertificate(ca, ['127.0.0.1'], Date.now())
  const server = createTlsServer({ cert: certificate + ca.certificate, key }, (socket) => {
    const behind = open()
    for (const [from, to] of [
      [socket, behind],
      [behind, socket],
    ] as const)
      from.pipe(to).on('error', () => from.destroy())
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port // of a TCP listener
}

void t.test('a token that names a CA is not sent without TLS', async (t) => {
  const own = await startOwnCoordinator(t, await makeStateDir(t))
  const plain = await startOwnCoordinator(t, await makeStateDir(t), null)
  const folder = await makeStateDir(t)
  const token = await own.makeToken()
  const url = `ws://127.0.0.1:${plain.port}`
  await t.rejects(dial({ url, folder, token }), /without TLS: use wss:\/\/127\.0\.0\.1:\d+/)
  await dial({ url: `wss://127.0.0.1:${own.port}`, folder, token })
  await t.rejects(dial({ url, folder, isKeyNew: false }), /coordinator-ca\.pem names the CA/)
})

void t.test('a truncated token is refused before any connection', async (t) => {
  const cut = 'cf1.abc'
  await t.rejects(
    dial({ url: 'ws://127.0.0.1:1', folder: await makeStateDir(t), token: cut }),
    /the join token is not whole/,
  )
})

void t.test('--coordinator-ca overrides the token', async (t) => {
  const own = await startOwnCoordinator(t, await makeStateDir(t))
  const url = `wss://127.0.0.1:${own.port}`
  const token = await own.makeToken()
  const caFile = join(own.stateDir, 'ca.crt')
  const certificate = issueCa(Date.now()).certificate
  const another = printJoinToken({
    token: parseJoinToken(token)?.token ?? '',
    fingerprint: fingerprintOf(certificate),
  })
  await writeFile(caFile, (await readFile(join(own.stateDir, 'ca.pem'), 'utf8')).slice(-2000))
  await dial({ url, folder: await makeStateDir(t), token: another, caFile })
  await writeFile(caFile, certificate)
  await t.rejects(dial({ url, folder: await makeStateDir(t), token, caFile }))
})

void t.test('the token of another coordinator replaces the stored CA', async (t) => {
  const one = await startOwnCoordinator(t, await makeStateDir(t))
  const two = await startOwnCoordinator(t, await makeStateDir(t))
  const folder = await makeStateDir(t)
  await dial({ url: `wss://127.0.0.1:${one.port}`, folder, token: await one.makeToken() })
  await dial({ url: `wss://127.0.0.1:${two.port}`, folder, token: await two.makeToken() })
  await t.rejects(dial({ url: `wss://127.0.0.1:${one.port}`, folder, isKeyNew: false }), {
    code: 'SELF_SIGNED_CERT_IN_CHAIN',
  })
})

void t.test('an untrusted certificate is explained with its remedy', async (t) => {
  const own = await startOwnCoordinator(t, await makeStateDir(t))
  const stranger = await startStranger(t)
  const folder = await makeStateDir(t)
  const token = await own.makeToken()
  await dial({ url: `wss://127.0.0.1:${own.port}`, folder, token })
  const pin = createCaPin({ file: caFileIn(folder), joinToken: () => Promise.resolve(undefined) })
  const explain = async (url: string, caFile?: string): Promise<string | undefined> => {
    const failed = await dial({ url, folder, isKeyNew: false, ...(caFile && { caFile }) }).then(
      () => null,
      (error: unknown) => error,
    )
    return explainFailure({ url, caFile: caFile ?? null, pin }, failed)
  }
  t.match(
    await explain(`wss://127.0.0.9:${own.port}`),
    /is for .*fleet\.test.* and not for 127\.0\.0\.9: .*--tls-names 127\.0\.0\.9/,
  )
  const other = `wss://127.0.0.1:${stranger.port}`
  t.match(
    await explain(other),
    /not issued by the CA that this agent keeps in .*coordinator-ca\.pem/,
  )
  const file = join(folder, 'other.pem')
  await writeFile(file, issueCa(Date.now()).certificate)
  t.match(await explain(other, file), /not issued by the CA in .*other\.pem \(--coordinator-ca\)/)
  t.match(await explain(`ws://127.0.0.1:${own.port}`), undefined)
})

void t.test('a token works through a proxy that passes TLS on', async (t) => {
  const { port, makeToken } = await startOwnCoordinator(t, await makeStateDir(t))
  const proxy = createTcpServer((agent) => {
    const coordinator = connect(port, '127.0.0.1')
    for (const socket of [agent, coordinator]) socket.on('error', () => undefined) // its close follows
    agent.pipe(coordinator).pipe(agent)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => proxy.close())
  const folder = await makeStateDir(t)
  const token = await makeToken()

  const proxyPort = (proxy.address() as AddressInfo).port // of a TCP listener
  await dial({ url: `wss://127.0.0.1:${proxyPort}`, folder, token })

  t.equal(token.split('.')[2], fingerprintOf(await readFile(caFileIn(folder), 'utf8')))
})

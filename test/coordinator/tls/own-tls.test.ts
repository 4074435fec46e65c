/** When a coordinator's own certificate is issued, and how it is renewed while its listener serves. */
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { issueCa, issueServerCertificate } from '../../../src/coordinator/tls/issue-certificate.js'
import {
  findRenewalReason,
  listServerNames,
  type NameSources,
} from '../../../src/coordinator/tls/judge-certificate.js'
import { openCa } from '../../../src/coordinator/tls/own-ca.js'
import {
  nameServer,
  openOwnTls,
  readServerCertificate,
  writeServerCertificate,
  type OwnTls,
} from '../../../src/coordinator/tls/own-tls.js'
import { makeStateDir } from '../../support/daemon.js'
import { shakeHands } from '../../support/tls-client.js'
import { log } from './running.js'

const day = 24 * 3600 * 1000
const start = Date.UTC(2026, 0, 1)
const names = { listenHost: '127.0.0.1', publicUrl: null, further: [] }

void t.test('a certificate is renewed in its last thirty days, and not before', (t) => {
  const ca = issueCa(start)
  const issuer = new X509Certificate(ca.certificate)
  const named = ['fleet.example', '192.0.2.7']
  const made = new X509Certificate(issueServerCertificate(ca, named, start).certificate)
  const judge = (now: number): string | null =>
    findRenewalReason(made, { ca: issuer, names: named, now })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 90 * day }), (after) => {
      t.equal(judge(start + after), after > 60 * day ? 'it expires soon' : null)
    }),
  )
  t.equal(judge(start - 2 * day), 'it is not valid yet')
  t.end()
})

void t.test('a certificate is renewed when it lacks a name or another CA issued it', (t) => {
  const ca = issueCa(start)
  const issuer = new X509Certificate(ca.certificate)
  const made = new X509Certificate(
    issueServerCertificate(ca, ['a', '*.b.example'], start).certificate,
  )
  const judge = (names: readonly string[], by = issuer): string | null =>
    findRenewalReason(made, { ca: by, names, now: start })
  t.equal(judge(['a', '*.b.example']), null)
  t.equal(judge(['a']), null, 'a surplus name does no harm')
  t.equal(judge(['a', 'c']), 'it does not name c')
  t.equal(judge(['a', '192.0.2.1']), 'it does not name 192.0.2.1')
  t.equal(judge(['a'], new X509Certificate(issueCa(start).certificate)), 'another CA issued it')
  t.equal(findRenewalReason(null, { ca: issuer, names: [], now: start }), 'there is none')
  t.end()
})

void t.test('at the end of its CA a certificate is not renewed repeatedly', (t) => {
  const ca = issueCa(start)
  const issuer = new X509Certificate(ca.certificate)
  const late = start + 3650 * day
  const made = new X509Certificate(issueServerCertificate(ca, ['a'], late).certificate)
  t.equal(findRenewalReason(made, { ca: issuer, names: ['a'], now: late + day }), null)
  t.end()
})

void t.test('names are those of the listener, the host, its addresses and the settings', (t) => {
  const host: NameSources = {
    listenHost: '0.0.0.0',
    hostName: 'Fleet-1.',
    publicUrl: 'https://fleet.example:8002',
    addresses: ['127.0.0.1', '192.0.2.7', 'fe80::1', '2001:db8:0::7'],
    further: ['fleet.internal'],
  }
  t.same(listServerNames(host), [
    ...['fleet.example', 'fleet.internal', 'fleet-1'],
    ...['localhost', '127.0.0.1', '192.0.2.7', '2001:db8::7'],
  ])
  t.same(
    listServerNames({ ...host, listenHost: '192.0.2.7', publicUrl: null, further: [] }),
    ['192.0.2.7', 'fleet-1'],
    'a listener on one address is not reached by others',
  )
  t.same(listServerNames({ ...host, publicUrl: 'https://[2001:db8::9]' })[0], '2001:db8::9')
  const many = Array.from({ length: 300 }, (_, at) => `10.0.${at >> 8}.${at & 255}`)
  const names = listServerNames({ ...host, addresses: many })
  t.equal(names.length, 100)
  t.same(
    names.slice(0, 2),
    ['fleet.example', 'fleet.internal'],
    'no name of the settings is left out',
  )
  t.end()
})

interface Listener {
  readonly port: number
  readonly own: OwnTls
  readonly stateDir: string
  setNow(now: number): void
  /** As the periodic check does. */
  check(): Promise<void>
  serial(): Promise<string | null>
}

async function startListener(t: Test): Promise<Listener> {
  const stateDir = await makeStateDir(t)
  let now = start
  const own = await openOwnTls({ stateDir, log, shared: null, now: () => now, names })
  const read = async () => {
    const text = await readFile(own.files.certFile)
    return { cert: text, key: text }
  }
  const server = createServer(await read(), (_, response) => response.end('still here'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // of a TCP listener
  return {
    port,
    own,
    stateDir,
    setNow: (at) => (now = at),
    check: () =>
      own.renewWhenDue(async () => {
        server.setSecureContext(await read())
      }),
    serial: () => shakeHands(port, 'localhost'),
  }
}

void t.test('a renewed certificate is served at once, and open connections stay', async (t) => {
  const listener = await startListener(t)
  const first = await listener.serial()
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  t.teardown(() => {
    agent.destroy()
  })
  const before = await ask(listener.port, agent)

  listener.setNow(start + 59 * day)
  await listener.check()
  t.equal(await listener.serial(), first, 'it is not due')
  listener.setNow(start + 61 * day)
  await listener.check()

  const second = await listener.serial()
  t.not(second, first)
  t.same(await ask(listener.port, agent), { ...before, reused: true }, 'on the same connection')
  await listener.check()
  t.equal(await listener.serial(), second, 'it is renewed once')
})

function ask(port: number, agent: Agent): Promise<{ text: string; from: number; reused: boolean }> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent }, (response) => {
      const from = response.socket.localPort ?? 0
      response.setEncoding('utf8').once('data', (text: string) => {
        response.once('end', () => {
          resolve({ text, from, reused: asked.reusedSocket })
        })
      })
    })
    asked.once('error', reject).end()
  }).then((answer) => answer as { text: string; from: number; reused: boolean }) // as resolved
}

void t.test('a lost certificate is renewed, and one written by hand is loaded', async (t) => {
  const listener = await startListener(t)
  const first = await listener.serial()
  await rm(listener.own.files.certFile)
  await listener.check()
  const second = await listener.serial()
  t.not(second, first)

  const ca = await openCa(listener.stateDir, null, start)
  await writeServerCertificate(listener.stateDir, ca, nameServer(names), start)
  await listener.check()
  const written = readServerCertificate(await readFile(listener.own.files.certFile, 'utf8'))
  t.not(written?.fingerprint256, second)
  t.equal(await listener.serial(), written?.fingerprint256)
})

void t.test('an unreadable CA is not replaced', async (t) => {
  const stateDir = await makeStateDir(t)
  await openCa(stateDir, null, start)
  await writeFile(join(stateDir, 'ca.pem'), 'broken')
  await t.rejects(openCa(stateDir, null, start), {
    kind: 'invalid',
    message: /ca\.pem does not hold the coordinators' CA: .*restore the file from a backup/,
  })
  t.equal(await readFile(join(stateDir, 'ca.pem'), 'utf8'), 'broken')
})

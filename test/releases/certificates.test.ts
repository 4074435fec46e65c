/**
 * Certificates on a real cache with a TLS listener: handshakes get the deployed one, through kills of child, manager and agent.
 * Varnish 9.0 has such a listener; on other releases, and without one, no certificate command is sent.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isAtLeast } from '../../protocol/release.js'
import { certificateName, type DesiredCertificate } from '../../src/vcl/desired-certificates.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import { answering, idle } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from '../agent/coordinator-end.js'
import { attachTo, runTestAgent, type TestAgent } from '../agent/run-agent.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { eventually } from '../support/eventually.js'
import { readRelease } from '../support/cache-program.js'
import { shakeHands } from '../support/tls-client.js'
import { findFreePort } from '../support/free-port.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

const name = 'www.example.com'

interface Harness {
  readonly cache: Varnishd
  readonly tlsPort: number
  readonly coordinator: CoordinatorEnd
  readonly agent: TestAgent
}

async function start(t: Test): Promise<Harness> {
  const tlsPort = await findFreePort()
  const cache = await startVarnishd(t, {
    vcl: answering('foreign'),
    args: ['-a', `127.0.0.1:${tlsPort},https`],
  })
  const coordinator = await startCoordinatorEnd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  return { cache, tlsPort, coordinator, agent }
}

interface Given {
  readonly desired: DesiredCertificate
  /** SHA-256 of the certificate, as handshakes show it. */
  readonly fingerprint: string
}

async function give(coordinator: CoordinatorEnd, id = 1): Promise<Given> {
  const { X509Certificate } = await import('node:crypto')
  const { chain, key } = await makeDomainCertificate({ names: [name] })
  const sha = coordinator.publish(`${chain}${key}`)
  const { fingerprint256: fingerprint } = new X509Certificate(chain)
  return { desired: { name: certificateName(id, sha), sha }, fingerprint }
}

const withCertificates = (...certificates: DesiredCertificate[]): DesiredEngine => ({
  ...idle,
  certificates,
})

void t.test('a cache without a TLS listener is passed over', async (t) => {
  const cache = await startVarnishd(t, { vcl: answering('foreign') })
  const coordinator = await startCoordinatorEnd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  t.notOk(coordinator.description()?.capabilities.includes('tls'))
  const childPid = await cache.childPid()
  const one = await give(coordinator)
  const report = await coordinator.apply(2, withCertificates(one.desired))
  t.match(report.certificates, [{ state: 'failed', error: /^no-tls/ }])
  t.notOk(agent.lines.some(({ command = '' }) => command.startsWith('tls.cert.load')))
  t.equal(await cache.childPid(), childPid)
})

const { product, version } = readRelease()
if (product === 'varnish' && isAtLeast(version, '9.0')) testListener()

function testListener(): void {
  void t.test('handshakes get the committed certificate, a new one without a gap', async (t) => {
    const { cache, tlsPort, coordinator, agent } = await start(t)
    t.ok(coordinator.description()?.capabilities.includes('tls'))
    t.equal(await shakeHands(tlsPort, name), null, 'no certificate yet')
    const [one, two] = [await give(coordinator), await give(coordinator)]
    await coordinator.apply(2, withCertificates({ ...one.desired, staged: true }))
    t.equal(await shakeHands(tlsPort, name), null, 'only loaded')
    await coordinator.apply(3, withCertificates(one.desired))
    t.equal(await shakeHands(tlsPort, name), one.fingerprint)

    let isReplacing = true
    const seen = new Set<string | null>()
    const clients = Array.from({ length: 4 }, async () => {
      while (isReplacing) seen.add(await shakeHands(tlsPort, name))
    })
    await coordinator.apply(4, withCertificates(one.desired, { ...two.desired, staged: true }))
    await coordinator.apply(5, withCertificates(two.desired))
    t.equal(await shakeHands(tlsPort, name), two.fingerprint)
    isReplacing = false
    await Promise.all(clients)
    t.same(
      [...seen].filter((one) => one === null),
      [],
      'no handshake fails',
    )
    t.match(await cache.adm('tls.cert.list'), two.desired.name)
    t.notMatch(await cache.adm('tls.cert.list'), one.desired.name)
    t.match(await readFile(join(agent.stateDir, 'boot.cli'), 'utf8'), two.desired.name)
  })

  void t.test('a certificate dropped before the commit leaves nothing behind', async (t) => {
    const { cache, tlsPort, coordinator } = await start(t)
    const [one, two] = [await give(coordinator), await give(coordinator)]
    await coordinator.apply(2, withCertificates(one.desired))
    await coordinator.apply(3, withCertificates(one.desired, { ...two.desired, staged: true }))
    await coordinator.apply(4, withCertificates(one.desired))
    t.equal(await shakeHands(tlsPort, name), one.fingerprint)
    t.notMatch(await cache.adm('tls.cert.list'), two.desired.name)
    await coordinator.apply(5, withCertificates(two.desired))
    t.equal(await shakeHands(tlsPort, name), two.fingerprint)
  })

  void t.test(
    'a refusal is reported in the cache’s words, and the old certificate keeps serving',
    async (t) => {
      const { tlsPort, coordinator } = await start(t)
      const one = await give(coordinator)
      await coordinator.apply(2, withCertificates(one.desired))
      const other = await makeDomainCertificate({ names: [name] })
      const { chain } = await makeDomainCertificate({ names: [name] })
      const sha = coordinator.publish(`${chain}${other.key}`)
      const wrong = { name: certificateName(1, sha), sha }
      const report = await coordinator.apply(3, withCertificates(wrong))
      t.match(report.certificates, [{ state: 'failed', error: /key values mismatch/ }])
      t.equal(await shakeHands(tlsPort, name), one.fingerprint)
    },
  )

  void t.test(
    'certificates survive kills of child and manager; a missing file does not prevent a start',
    async (t) => {
      const { cache, tlsPort, coordinator, agent } = await start(t)
      const [one, two] = [await give(coordinator), await give(coordinator)]
      await coordinator.apply(2, withCertificates(one.desired))
      await coordinator.apply(3, withCertificates(one.desired, { ...two.desired, staged: true }))
      process.kill((await cache.childPid()) ?? 0, 'SIGKILL')
      await eventually(
        'the first one is served again',
        async () => (await shakeHands(tlsPort, name)) === one.fingerprint,
      )
      await coordinator.apply(4, withCertificates(two.desired))
      await eventually(
        'the second one is served',
        async () => (await shakeHands(tlsPort, name)) === two.fingerprint,
      )
      await rm(join(agent.stateDir, 'tls', `${two.desired.name.replace(/^cf-/, '')}.pem`))
      process.kill((await cache.childPid()) ?? 0, 'SIGKILL')
      await eventually(
        'it is served again',
        async () => (await shakeHands(tlsPort, name)) === two.fingerprint,
      )
      await cache.restart()
      await eventually(
        'it is served after a restart',
        async () => (await shakeHands(tlsPort, name)) === two.fingerprint,
      )
    },
  )

  void t.test('an agent that ended between load and commit continues', async (t) => {
    const { cache, tlsPort, coordinator, agent } = await start(t)
    const [one, two] = [await give(coordinator), await give(coordinator)]
    await coordinator.apply(2, withCertificates(one.desired))
    await coordinator.apply(3, withCertificates(one.desired, { ...two.desired, staged: true }))
    await agent.stop()
    await runTestAgent(t, coordinator, attachTo(cache), { stateDir: agent.stateDir })
    await coordinator.hello(2)
    await coordinator.apply(4, withCertificates(two.desired))
    t.equal(await shakeHands(tlsPort, name), two.fingerprint)
    t.notMatch(await cache.adm('tls.cert.list'), one.desired.name)
  })

  void t.test('the boot file alone starts a cache with VCL and certificates', async (t) => {
    const { cache, coordinator, agent } = await start(t)
    const one = await give(coordinator)
    await coordinator.apply(2, withCertificates(one.desired))
    await agent.stop()
    const tlsPort = await findFreePort()
    await startVarnishd(t, {
      vcl: null,
      args: [...['-a', `127.0.0.1:${tlsPort},https`], ...['-I', join(agent.stateDir, 'boot.cli')]],
    })
    await eventually(
      'it is served',
      async () => (await shakeHands(tlsPort, name)) === one.fingerprint,
    )
    t.ok(cache.pid())
  })
}

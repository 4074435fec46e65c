/**
 * SIGKILL of the agent and of the coordinator between load and commit of a certificate, on a real cache with a TLS listener: it ends with
 * the old or the new one, in agreement with the status, and every handshake meanwhile gets one of them. Then the cache loses its listener.
 */
import { X509Certificate } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { isAtLeast } from '../../protocol/release.js'
import { findFreePort } from '../support/free-port.js'
import type { CallAnswer } from '../support/http-call.js'
import { readRelease } from '../support/cache-program.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { eventually } from '../support/eventually.js'
import { shakeHands } from '../support/tls-client.js'
import { after, bothMoments, describeStep, strike, type Step } from '../end-to-end/faults.js'
import {
  agentTag,
  expectDone,
  startHarness,
  untilAgent,
  type Harness,
} from '../end-to-end/harness.js'

const name = 'www.example.com'

interface Row {
  readonly victim: 'agent' | 'coordinator'
  readonly step: Step
}

const load = { on: 'port', name: 'tls.cert.load', nth: 1 } as const
const commit = { on: 'port', name: 'tls.cert.commit', nth: 1 } as const
const rows: readonly Row[] = [
  ...bothMoments(load).map((step) => ({ victim: 'agent' as const, step })),
  ...bothMoments(commit).map((step) => ({ victim: 'agent' as const, step })),
  ...after('tls.cert.load', 'tls.cert.commit').map((step) => ({
    victim: 'coordinator' as const,
    step,
  })),
  { victim: 'coordinator', step: { on: 'link', name: 'applyReport', nth: 1, moment: 'after' } },
  { victim: 'coordinator', step: { on: 'link', name: 'apply', nth: 2, moment: 'before' } },
]

const { product, version } = readRelease()
if (product === 'varnish' && isAtLeast(version, '9.0'))
  void t.test('a certificate survives SIGKILLs', survive)
else t.pass(`${product} ${version} has no TLS listener`)

async function survive(t: Test): Promise<void> {
  const tlsPort = await findFreePort()
  const cacheWords = ['-a', `127.0.0.1:${tlsPort},https`]
  const harness = await startHarness(t, { cacheWords })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness)
  expectDone(await harness.api.call('PUT', `${site.path}/deploy`))
  const handshakes = startHandshakes(t, tlsPort)
  for (const { victim, step } of rows) {
    const title = `${victim} killed ${describeStep(step)}`
    const before = await shakeHands(tlsPort, name)
    const after = await renew(harness, site)
    handshakes.seen.clear()
    const answer = await strike(harness, victim, step, () =>
      harness.api.call('PUT', `${site.path}/deploy?wait=25`),
    )
    const served = await eventually(`${title}: all agree`, () =>
      readAgreement(harness, site, { tlsPort, before, after }),
    )
    if (answer?.status === 200) t.equal(served, after, `${title}: what was answered is so`)
    for (const one of handshakes.seen)
      t.ok(one === before || one === after, `${title}: each handshake gets the old or the new one`)
  }
  await handshakes.stop()
  await loseListener(t, harness, site)
}

interface Site {
  readonly path: string
}

async function makeSite({ api }: Harness): Promise<Site> {
  const deployment = await api.makeDeployment('web', await api.findTag(agentTag))
  await api.make('/domains', { fqdn: name })
  const given = await makeDomainCertificate({ names: [name] })
  const deployments = [{ id: deployment }]
  return {
    path: `/certificates/${await api.make('/certificates', { name, ...given, deployments })}`,
  }
}

/** Returns the fingerprint that handshakes should show. */
async function renew({ api }: Harness, { path }: Site): Promise<string> {
  const given = await makeDomainCertificate({ names: [name] })
  expectDone(await api.call('PUT', path, given))
  return new X509Certificate(given.chain).fingerprint256
}

interface Served {
  readonly tlsPort: number
  readonly before: string | null
  readonly after: string
}

interface CertificateView {
  readonly stateName: string
  readonly deployError: string | null
  readonly agentStates: readonly { readonly state: string; readonly reason: string | null }[]
}

async function read({ api }: Harness, { path }: Site): Promise<CertificateView> {
  const answer: CallAnswer = await api.call('GET', path)
  expectDone(answer)
  return JSON.parse(answer.text) as CertificateView // the fields in certificate.ts
}

/** Throws until the status, the cache's list, files, boot file and handshake agree. */
async function readAgreement(
  harness: Harness,
  site: Site,
  { tlsPort, before, after }: Served,
): Promise<string | null> {
  const { stateName, deployError, agentStates } = await read(harness, site)
  const list = await harness.cache.adm('tls.cert.list')
  const files = await readdir(join(harness.agentStateDir, 'tls'))
  const boot = await readFile(join(harness.agentStateDir, 'boot.cli'), 'utf8')
  const id = files.join().replace('.pem', '')
  const seen = {
    served: await shakeHands(tlsPort, name),
    states: [stateName, ...agentStates.map(({ state }) => state)],
    listed: [...list.matchAll(/^default\tcf-(\S+)\t(\S+)/gm)].map(([, id, is]) => [id, is]),
    booted: [...boot.matchAll(/-tls\.cert\.load cf-(\S+)/g)].map(([, id]) => id),
  }
  const served = deployError === null ? after : before
  const right = { served, states: ['Active', 'applied'], listed: [[id, 'active']], booted: [id] }
  if (!isDeepStrictEqual(seen, right)) throw new Error(JSON.stringify({ seen, right, deployError }))
  return served
}

/** Handshakes one after the other until stopped. */
function startHandshakes(t: Test, tlsPort: number) {
  const seen = new Set<string | null>()
  let isOn = true
  const run = async (): Promise<void> => {
    while (isOn) seen.add(await shakeHands(tlsPort, name))
  }
  const running = run()
  const stop = async (): Promise<void> => {
    isOn = false
    await running
  }
  t.teardown(stop)
  return { seen, stop }
}

/** A load would kill the child of a cache without a TLS listener. */
async function loseListener(t: Test, harness: Harness, site: Site): Promise<void> {
  const { api, cache, port, agentStateDir } = harness
  port.forget()
  await cache.restart(undefined, [])
  await eventually('the agent is passed over', async () => {
    const { agentStates } = await read(harness, site)
    return agentStates[0]?.state === 'passed' && agentStates[0].reason === 'no-tls'
  })
  await untilAgent(harness, 'Running')
  const childPid = await cache.childPid()
  await renew(harness, site)
  const refused = await api.call('PUT', `${site.path}/deploy`)
  t.equal(refused.status, 503, 'no remaining agent could have it')
  await eventually('its files are removed, and the boot file lists none', async () => {
    const boot = await readFile(join(agentStateDir, 'boot.cli'), 'utf8')
    const files = await readdir(join(agentStateDir, 'tls'))
    return files.length === 0 && !boot.includes('tls.cert')
  })
  t.notOk(port.commands.some((line) => line.startsWith('tls.cert.load')))
  t.equal(await cache.childPid(), childPid)
  t.match(await cache.adm('panic.show').catch(String), /has not panicked/)
}

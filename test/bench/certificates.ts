/**
 * A real cache with a TLS listener takes handshakes while its certificate is replaced repeatedly; and one certificate is replaced on
 * a fleet of simulated caches.
 */
import { connect } from 'node:tls'
import { isAtLeast } from '../../protocol/release.js'
import type { ApiClient } from '../support/api-client.js'
import { readRelease } from '../support/cache-program.js'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { findFreePort } from '../support/free-port.js'
import { startVarnishd } from '../support/varnishd.js'
import { answering } from '../support/observe-cache.js'
import { enrolCache } from './cache-harness.js'
import { formatCount, formatMs, median, type Report } from './figure.js'
import { startFleet, untilAllHold, untilAllRun } from './fleet-harness.js'

const handshakes = 10_000
const clients = 8
const site = 'shop.example'
const deployGoalMs = 1_000
const fleetSize = 1_000
const fleetReplacements = 7
const fleetGoalMs = 1_500

export async function measureCertificates(t: TestEnd, report: Report): Promise<void> {
  const { product, version } = readRelease()
  if (product !== 'varnish' || !isAtLeast(version, '9.0')) {
    const measured = `not measured: ${product} ${version} has no TLS listener; put Varnish 9.0 first on PATH`
    report({ name: 'certificates', measured, baseline: null, goal: null })
    return
  }
  const tlsPort = await findFreePort()
  const args = ['-a', `127.0.0.1:${tlsPort},https`]
  const cache = await startVarnishd(t, { vcl: answering('foreign'), args })
  const { api } = await enrolCache(t, cache)
  const path = await makeCertificate(api)
  await put(api, `${path}/deploy`)
  const took: number[] = []
  const shaking = new AbortController()
  const replacing = (async () => {
    while (!shaking.signal.aborted) {
      await put(api, path, await makeDomainCertificate({ names: [site] }))
      const startedAt = performance.now()
      await put(api, `${path}/deploy`)
      took.push(performance.now() - startedAt)
    }
  })()
  const failed = await shakeHands(tlsPort)
  shaking.abort()
  await replacing
  report({
    name: `certificates: failed of ${formatCount(handshakes)} handshakes, ${took.length} replacements`,
    measured: String(failed),
    baseline: null,
    goal: '0',
    isMet: failed === 0 && took.length > 0,
  })
  report({
    name: 'certificates: one replaced on one cache under load, median',
    measured: formatMs(median(took)),
    baseline: null,
    goal: `<= ${formatMs(deployGoalMs)}`,
    isMet: median(took) <= deployGoalMs,
  })
}

/** From the call of a deploy to its answer: all agents have loaded the certificate and serve it. */
export async function measureCertificatesOfFleet(t: TestEnd, report: Report): Promise<void> {
  const { api, base } = await startCoordinator(t)
  const joinToken = await api.makeJoinToken(fleetSize + 1)
  const order = { size: fleetSize, joinToken, bases: [base], name: 'fleet', hasTls: true }
  const fleet = await startFleet(t, order)
  await untilAllRun(api, fleet, { size: fleetSize })
  await untilAllHold(api, fleet)
  const path = await makeCertificate(api, 'simulated')
  await put(api, `${path}/deploy?wait=300s`)
  const took: number[] = []
  for (let count = 0; count < fleetReplacements; count++) {
    await put(api, path, await makeDomainCertificate({ names: [site] }))
    const startedAt = performance.now()
    await put(api, `${path}/deploy?wait=300s`)
    took.push(performance.now() - startedAt)
  }
  report({
    name: `certificates: one replaced on ${formatCount(fleetSize)} agents, median of ${took.length}`,
    measured: formatMs(median(took)),
    baseline: `shortest ${formatMs(Math.min(...took))}, longest ${formatMs(Math.max(...took))}`,
    goal: `<= ${formatMs(fleetGoalMs)}`,
    isMet: median(took) <= fleetGoalMs,
  })
}

async function makeCertificate(api: ApiClient, tag = 'web'): Promise<string> {
  const deployment = await api.makeDeployment(tag, await api.findTag(tag), { min: 1, max: 1 })
  await post(api, '/domains', { fqdn: site })
  const given = await makeDomainCertificate({ names: [site] })
  const deployments = [{ id: deployment }]
  return `/certificates/${await post(api, '/certificates', { name: site, ...given, deployments })}`
}

async function post(api: ApiClient, path: string, body: object): Promise<number> {
  const answer = await api.call('POST', path, body)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return (JSON.parse(answer.text) as { id: number }).id // a 201 has the object
}

async function put(api: ApiClient, path: string, body?: object): Promise<void> {
  const answer = await api.call('PUT', path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
}

/** Returns the number of failures. */
async function shakeHands(port: number): Promise<number> {
  let [left, failed] = [handshakes, 0]
  const client = async (): Promise<void> => {
    while (left-- > 0) if (!(await shakeOnce(port))) failed++
  }
  await Promise.all(Array.from({ length: clients }, client))
  return failed
}

function shakeOnce(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', servername: site, rejectUnauthorized: false }
    const socket = connect(options, () => {
      resolve(true)
      socket.destroy()
    })
    socket.once('error', () => {
      resolve(false)
    })
  })
}

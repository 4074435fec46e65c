/** Checks an agent's host: its key, its coordinator, its cache. */
import { join } from 'node:path'
import { Type } from 'typebox'
import type { Settings } from '../../config/schema.js'
import { createCaPin } from '../agent/link/ca-pin.js'
import { spreadAddress } from '../agent/link/coordinator-address.js'
import { fetchOwnState, type CoordinatorAddress } from '../agent/link/coordinator-http.js'
import { explainFailure } from '../agent/link/explain-failure.js'
import { readClock, reasons } from '../enroll/ask-coordinator.js'
import { codeOf, textOf } from '../enroll/enroll-error.js'
import { parseFitting, prepareGuard } from '../mismatch.js'
import { orNull, text } from '../resources/json-fields.js'
import { readIfThere } from '../runtime/durable-file.js'
import { checkCache } from './cache-checks.js'
import { ok, problem, type Finding } from './finding.js'
import { checkKeys, checkState, checkUnit, type Service } from './host-checks.js'

const answerTimeoutMs = 10_000
const skewWarnedMs = 5_000
const skewMostMs = 60_000

const isOwnState = prepareGuard(
  Type.Object({ stateName: text, engineError: orNull(text), lockedBecause: orNull(text) }),
)

const isHealth = prepareGuard(Type.Object({ status: text, reasons: Type.Array(text) }))

export async function checkAgent(
  settings: Settings,
  service: Service,
): Promise<readonly Finding[]> {
  const { stateDir } = settings
  const keyFile = join(stateDir, 'agent.key')
  const tokenFiles = settings.joinTokenFile === null ? [] : [settings.joinTokenFile]
  return [
    ...checkUnit(service),
    ...(await checkState(stateDir, keyFile, service)),
    ...(await checkKeys([keyFile, ...tokenFiles])),
    ...(await checkCoordinator(settings, keyFile)),
    ...(await checkCache(settings, service.user?.name ?? 'of the agent')),
    ...(settings.healthListen === null ? [] : [await checkHealth(settings.healthListen)]),
  ]
}

/** Sends the same request as a load balancer. */
async function checkHealth({
  host,
  port,
}: NonNullable<Settings['healthListen']>): Promise<Finding> {
  const there = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const address = `${there.includes(':') ? `[${there}]` : there}:${port}`
  try {
    const signal = AbortSignal.timeout(answerTimeoutMs)
    const answer = await fetch(`http://${address}/health`, { signal })
    const health = parseFitting(await answer.text(), isHealth)
    if (!health) return problem('ports', 'healthAway', { address, reason: 'it answers no health' })
    const { status, reasons: why } = health
    return status === 'healthy'
      ? ok('ports', `load balancers are told at ${address} to use the cache`)
      : problem('ports', 'unhealthy', { reasons: why.join(', ') })
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown } // of fetch
    const reason = reasons[codeOf(cause ?? error)] ?? textOf(cause ?? error)
    return problem('ports', 'healthAway', { address, reason })
  }
}

async function checkCoordinator(settings: Settings, keyFile: string): Promise<readonly Finding[]> {
  const { name, coordinatorUrl, coordinatorCa, stateDir } = settings
  const key = (await readIfThere(keyFile).catch(() => null))?.trim()
  if (key === undefined || key === '') return [problem('coordinator', 'none', { path: keyFile })]
  const pin = createCaPin({
    file: join(stateDir, 'coordinator-ca.pem'),
    joinToken: () => Promise.resolve(undefined),
  })
  const address = spreadAddress({ url: coordinatorUrl, caFile: coordinatorCa, pin }, name)
  const findings: Finding[] = []
  // Checks each URL: an agent tries the next one if one fails.
  for (const _ of coordinatorUrl.split(',')) {
    const found = await checkOne(address, key)
    findings.push(...found)
    address.moveOn?.()
  }
  return findings
}

async function checkOne(address: CoordinatorAddress, key: string): Promise<readonly Finding[]> {
  const { url } = address
  let clockMs
  try {
    clockMs = await readClock(address)
  } catch (error) {
    const explained = await explainFailure(address, error)
    const reason = reasons[codeOf(error)] ?? textOf(error)
    return [
      explained === undefined
        ? problem('coordinator', 'away', { url, reason })
        : problem('coordinator', 'untrusted', { reason: explained }),
    ]
  }
  return [...judgeClock(clockMs, Date.now()), await askOwnState(address, key)]
}

/** `thereMs` null: the coordinator reports no time. Pure. */
export function judgeClock(thereMs: number | null, hereMs: number): readonly Finding[] {
  if (thereMs === null) return []
  const skewMs = hereMs - thereMs
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  if (Math.abs(skewMs) <= skewWarnedMs) return [ok('clock', 'right within 5 s')]
  return [problem('clock', Math.abs(skewMs) > skewMostMs ? 'far' : 'off', { seconds })]
}

async function askOwnState(address: CoordinatorAddress, key: string): Promise<Finding> {
  const signal = AbortSignal.timeout(answerTimeoutMs)
  try {
    const state = parseFitting(await fetchOwnState({ address, key, signal }), isOwnState)
    if (!state) return problem('coordinator', 'unknown', { reason: 'it answers no state' })
    const { stateName, engineError, lockedBecause } = state
    if (stateName === 'Running' || stateName === 'ReadOnly')
      return ok('coordinator', `${address.url} sees this agent ${stateName}`)
    if (stateName === 'Locked')
      return problem('coordinator', 'locked', { reason: lockedBecause ?? 'was locked' })
    const reason = engineError ?? 'its service does not run, or does not reach the coordinator'
    return problem('coordinator', 'failing', { state: stateName, reason })
  } catch (error) {
    const why = /"errorMsg":"((?:[^"\\]|\\.)*)"/.exec(textOf(error))?.[1] ?? textOf(error)
    return problem('coordinator', 'unknown', { reason: why })
  }
}

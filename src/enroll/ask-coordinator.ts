/** Checks that the coordinator is reachable, matches the token and would admit this agent; the check does not use up the token. */
import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestTls } from 'node:https'
import { randomBytes } from 'node:crypto'
import { dialCoordinator, DialRefused } from '../agent/link/dial.js'
import { explainFailure } from '../agent/link/explain-failure.js'
import { readTrust, type CoordinatorAddress } from '../agent/link/coordinator-http.js'
import { codeOf, EnrollError, textOf } from './enroll-error.js'

interface Question {
  readonly address: CoordinatorAddress
  readonly name: string
  readonly token: string
  /** Milliseconds since 1970, from this host's clock. */
  readonly now: () => number
}

const timeoutMs = 15_000
/** Statistics are aggregated by the minute, and log entries must be found by their time. */
const skewMostMs = 60_000

/** Throws EnrollError. */
export async function requireWelcome({ address, name, token, now }: Question): Promise<void> {
  const { host } = new URL(address.url)
  const coordinatorMs = await readClock(address).catch(async (error: unknown) => {
    throw new EnrollError(
      (await explainFailure(address, error)) ??
        `the coordinator at ${host} is not reached: ${reasons[codeOf(error)] ?? textOf(error)}`,
      { cause: error },
    )
  })
  const problem = findSkew(now(), coordinatorMs)
  if (problem !== null) throw new EnrollError(problem)
  try {
    const socket = await dialCoordinator({
      address,
      name,
      isKeyNew: true,
      key: randomBytes(32).toString('hex'),
      joinToken: () => Promise.resolve(token),
      signal: AbortSignal.timeout(timeoutMs),
    })
    // A token is not used up before hello.
    socket.terminate()
  } catch (error) {
    throw new EnrollError(describeRefusal(host, name, error), { cause: error })
  }
}

/** Returns null if the clocks agree. `coordinatorMs` null: the coordinator sent no time. Pure. */
export function findSkew(hereMs: number, coordinatorMs: number | null): string | null {
  if (coordinatorMs === null || Math.abs(hereMs - coordinatorMs) <= skewMostMs) return null
  const seconds = Math.round(Math.abs(hereMs - coordinatorMs) / 1000)
  const way = hereMs < coordinatorMs ? 'behind' : 'ahead of'
  return `the clock of this host is ${seconds} s ${way} the coordinator's: set it (timedatectl set-ntp true), then enrol again`
}

/** Why a coordinator is unreachable, by error code. */
export const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is the port right, and does a firewall let it through?',
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'the name cannot be looked up now',
  ETIMEDOUT: 'no answer; is the port right, and does a firewall let it through?',
  EHOSTUNREACH: 'there is no route to that host',
}

/** Reads the `Date` header of a response that needs no login. Null: there was none. */
export async function readClock(address: CoordinatorAddress): Promise<number | null> {
  const url = new URL(address.url)
  const isTls = url.protocol === 'wss:'
  url.protocol = isTls ? 'https:' : 'http:'
  url.pathname = `${url.pathname.replace(/\/$/, '')}/healthz`
  const trust = await readTrust(address)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = (isTls ? requestTls : requestPlain)(url, { ...trust, agent: false }, resolve)
    asked.setTimeout(timeoutMs, () => {
      asked.destroy(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' }))
    })
    asked.once('error', reject).end()
  })
  response.destroy()
  const at = Date.parse(response.headers.date ?? '')
  return Number.isNaN(at) ? null : at
}

function describeRefusal(host: string, name: string, error: unknown): string {
  if (!(error instanceof DialRefused)) return `the coordinator at ${host}: ${textOf(error)}`
  const why = /"errorMsg":"((?:[^"\\]|\\.)*)"/.exec(error.message)?.[1] ?? error.message
  if (error.status === 401)
    return `the coordinator at ${host} refuses the join token: ${why}; make another: cachefleet jointokens add --label ${name}`
  if (error.status === 409)
    return `the coordinator at ${host} does not take the name ${name}: ${why}; set another name in the settings (name: …), or end the agent that has it`
  if (error.status === 429)
    return `the coordinator at ${host} refuses enrolments from this address for some minutes: too many wrong tokens came from it`
  return `the coordinator at ${host} answers ${error.status}: ${why}`
}

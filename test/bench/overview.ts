/** The overview of a fleet of 10,000 with a group on all agents; heartbeats are written meanwhile. */
import { pauseFor } from '../../src/runtime/pause.js'
import { logIn } from '../support/api-client.js'
import { administrator, type TestEnd } from '../support/daemon.js'
import type { ServerReady } from './api-fleet.js'
import { startChild } from './child.js'
import { formatMs, quantile, type Report } from './figure.js'

const fleetSize = 10_000
const calls = 200
/** The first calls run uncompiled code, and count the fleet for the first time. */
const warmUps = 20
/** Polls like a viewer, but more often. */
const pauseMs = 50
/** The goals. */
const mostMs = 20

export async function measureOverview(t: TestEnd, report: Report): Promise<void> {
  const words = [String(fleetSize), 'serving']
  const server = startChild<never, ServerReady>(t, 'api-server.ts', words)
  const { base } = await server.receive()
  const { token } = await logIn(base, administrator)
  const times: { readonly ours: number; readonly bare: number }[] = []
  for (let call = 0; call < calls; call++) {
    times.push({
      bare: await measureCall(`${base}/api/v1/auth/whoami`, token),
      ours: await measureCall(`${base}/api/v1/overview`, token),
    })
    await pauseFor(pauseMs)
  }
  const counted = times.slice(warmUps)
  const ours = quantile(
    counted.map((time) => time.ours),
    0.95,
  )
  const bare = quantile(
    counted.map((time) => time.bare),
    0.95,
  )
  report({
    name: `api: overview of ${fleetSize} agents, p95`,
    measured: formatMs(ours),
    baseline: `who is logged in ${formatMs(bare)}`,
    ratio: ours / bare,
    goal: `<= ${mostMs} ms`,
    isMet: ours <= mostMs,
  })
}

async function measureCall(url: string, token: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`)
  return performance.now() - startedAt
}

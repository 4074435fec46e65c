/** Logins: each costs one argon2id on purpose, and only a few run at a time so that other calls proceed (docs/behaviour.md, Tokens). */
import { logIn } from '../support/api-client.js'
import { administrator, startCoordinator, type TestEnd } from '../support/daemon.js'
import { formatMs, median, quantile, type Report } from './figure.js'
import { readCpuMs } from './process-reading.js'

const logins = 40
const atOnce = 4
/** A person waits for a login. */
const goalMs = 100

export async function measureLogin(t: TestEnd, report: Report): Promise<void> {
  const { base, api, daemon } = await startCoordinator(t)
  const time = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now()
    await work()
    return performance.now() - startedAt
  }
  const login = () => time(() => logIn(base, administrator))
  const other = () => time(() => api.call('GET', '/auth/whoami'))

  const alone: number[] = []
  const quiet: number[] = []
  for (let count = 0; count < logins; count++) {
    alone.push(await login())
    quiet.push(await other())
  }
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  const crowd = Array.from({ length: atOnce }, async () => {
    const took: number[] = []
    for (let count = 0; count < logins / atOnce; count++) took.push(await login())
    return took
  })
  const beside: number[] = []
  const crowded = { isOver: false }
  const over = Promise.all(crowd).finally(() => (crowded.isOver = true))
  while (!crowded.isOver) beside.push(await other())
  const together = (await over).flat()
  const cpuMs = (await readCpuMs(daemon.pid)) - cpuBeforeMs

  report({
    name: 'login: one at a time, p95',
    measured: formatMs(quantile(alone, 0.95)),
    baseline: `median ${formatMs(median(alone))}`,
    goal: `<= ${goalMs} ms`,
    isMet: quantile(alone, 0.95) <= goalMs,
  })
  report({
    name: `login: ${atOnce} at a time, p95`,
    measured: formatMs(quantile(together, 0.95)),
    baseline: `median ${formatMs(median(together))}`,
    goal: `<= ${goalMs} ms`,
    isMet: quantile(together, 0.95) <= goalMs,
  })
  report({
    name: `login: the daemon's CPU, ${(beside.length / logins).toFixed(1)} other calls included`,
    measured: `${(cpuMs / logins).toFixed(1)} ms/login`,
    baseline: null,
    goal: null,
  })
  report({
    name: 'login: another call beside these, p95',
    measured: formatMs(quantile(beside, 0.95)),
    baseline: `without logins ${formatMs(quantile(quiet, 0.95))}`,
    ratio: quantile(beside, 0.95) / quantile(quiet, 0.95),
    goal: null,
  })
}

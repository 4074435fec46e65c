/** How soon a user sees the overview of a large fleet after login: from the answer to the login until it is painted. */
import type { Browser } from 'playwright-core'
import { logInPage, openPage, startBrowser } from '../support/browser.js'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { formatMs, type Report } from './figure.js'
import { untilAllRun } from './fleet-harness.js'

const fleetSize = 1_000
/** The goals. */
const mostMs = 300
const logins = 7

export async function measurePageOverview(t: TestEnd, report: Report): Promise<void> {
  const { base, api, daemon } = await startCoordinator(t, {
    words: ['--no-agent', '--name', 'edge', '--simulate', String(fleetSize), '--log-level', 'warn'],
  })
  await untilAllRun(api, daemon, { size: fleetSize })
  const browser = await startBrowser(t)
  const took: LoginTimes[] = []
  for (let count = 0; count < logins; count++) took.push(await logInOnce(t, browser, base))
  const middle = (read: (times: LoginTimes) => number): number =>
    took.map(read).toSorted((a, b) => a - b)[Math.floor(logins / 2)] ?? 0
  const drawnMs = middle(({ drawnMs }) => drawnMs)
  report({
    name: `page: overview of ${fleetSize} caches painted after login`,
    measured: formatMs(drawnMs),
    baseline: `its call answered after ${formatMs(middle(({ answeredMs }) => answeredMs))}`,
    goal: `<= ${formatMs(mostMs)}`,
    isMet: drawnMs <= mostMs,
  })
  await daemon.stop()
}

/** Since the answer to the login. */
interface LoginTimes {
  readonly answeredMs: number
  readonly drawnMs: number
}

/** In its own profile, with an empty browser cache. */
async function logInOnce(t: TestEnd, browser: Browser, base: string): Promise<LoginTimes> {
  const { page } = await openPage(t, browser, base)
  // Discards the value: the call would wait for the promise.
  await page.evaluate(`void (window.drawn = new Promise((resolve) => {
    const look = new MutationObserver(() => {
      if (!document.querySelector('.overview-traffic')) return
      look.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    })
    look.observe(document, { childList: true, subtree: true })
  }))`)
  await logInPage(page)
  const times = await page.evaluate<LoginTimes>(`window.drawn.then((drawnAt) => {
    const endOf = (path) => performance.getEntriesByType('resource')
      .find(({ name }) => name.includes(path)).responseEnd
    const since = endOf('/auth/login')
    return { drawnMs: drawnAt - since, answeredMs: endOf('/api/v1/overview') - since }
  })`)
  await page.context().close()
  return times
}

/**
 * The page in a browser: the cost of a fleet's live list for its main thread, and of scrolling through a long one.
 * CPU time of the page's main thread and process, so that other load does not count.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import type { AgentView, ApiClient } from '../support/api-client.js'
import { logInPage, openPage, startBrowser } from '../support/browser.js'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { formatMs, type Report } from './figure.js'
import { untilAllRun } from './fleet-harness.js'

/** The goals. */
const liveFleets = [
  { size: 500, mostShare: 0.05 },
  { size: 5_000, mostShare: 0.12 },
] as const
const longSize = 10_000
const liveMs = 20_000
const scrolledFrames = 120
/** Fourteen rows: a flick, 27,000 pixels a second. */
const framePixels = 448
const rowPixels = 32
/** 60 frames a second, including style, layout and the main thread's part of painting. */
const frameMostMs = 16

export async function measurePage(t: TestEnd, report: Report): Promise<void> {
  for (const { size, mostShare } of liveFleets) {
    const { page, clock, api, stop } = await openFleet(t, size)
    await measureLive(clock, report, { size, mostShare, what: 'list' })
    await page.getByRole('button', { name: 'Map', exact: true }).click()
    await measureLive(clock, report, { size, mostShare, what: 'map' })
    await page.getByRole('button', { name: 'List', exact: true }).click()
    if (size === liveFleets[0].size) {
      await showLongList(page, api)
      await measureScrolling(page, clock, report)
      await measureMap(page, clock, report)
    }
    await stop()
  }
}

async function openFleet(t: TestEnd, size: number) {
  const { base, api, daemon } = await startCoordinator(t, {
    words: ['--no-agent', '--name', 'edge', '--simulate', String(size), '--log-level', 'warn'],
  })
  await untilAllRun(api, daemon, { size })
  const { page } = await openPage(t, await startBrowser(t), base, { path: '/caches' })
  const clock = await page.context().newCDPSession(page)
  await clock.send('Performance.enable', { timeDomain: 'threadTicks' })
  await logInPage(page)
  await page
    .getByText(/^[\d.,]+\/s$/)
    .nth(5)
    .waitFor()
  const stop = async (): Promise<void> => {
    await page.close()
    await daemon.stop()
  }
  return { page, clock, api, stop }
}

interface LiveGoal {
  readonly size: number
  readonly mostShare: number
  readonly what: 'list' | 'map'
}

async function measureLive(
  clock: CDPSession,
  report: Report,
  { size, mostShare, what }: LiveGoal,
): Promise<void> {
  await pause(2_000) // lets the work of the first samples finish
  const before = await readSpent(clock)
  const startedAt = performance.now()
  await pause(liveMs)
  const after = await readSpent(clock)
  const tookMs = performance.now() - startedAt
  const share = (after.threadMs - before.threadMs) / tookMs
  report({
    name: `page: live ${what} of ${size} caches, main thread`,
    measured: formatShare(share),
    baseline: `its whole process ${formatShare((after.processMs - before.processMs) / tookMs)}`,
    goal: `<= ${formatShare(mostShare)} of a core`,
    isMet: share <= mostShare,
  })
}

/** Simulates a larger fleet: the coordinator's own objects, repeated with new ids and names. */
async function showLongList(page: Page, api: ApiClient): Promise<void> {
  const known = await api.listAgents()
  const many = Array.from({ length: longSize }, (_, at): AgentView => {
    const agent = known[at % known.length]
    if (!agent) throw new Error('the fleet is empty')
    return { ...agent, id: at + 1, name: `${agent.name}-${at}` }
  })
  await page.route(/\/api\/v1\/agents\?/, async (route) => {
    const take = new URL(route.request().url()).searchParams.get('take') ?? ''
    const [limit = 0, offset = 0] = take.split(',').map(Number)
    const json = many.slice(offset, offset + limit)
    await route.fulfill({ json, headers: { 'x-total-count': String(longSize) } })
  })
  await page.reload()
  await page.getByRole('button', { name: new RegExp(`^All\\s*${longSize}$`) }).waitFor()
}

async function measureScrolling(page: Page, clock: CDPSession, report: Report): Promise<void> {
  const before = await readSpent(clock)
  const frames = await page.evaluate<number>(`new Promise((resolve) => {
    const frame = document.querySelector('.table-fills')
    let count = 0
    const step = () => {
      if (count++ === ${scrolledFrames}) return resolve(count - 1)
      frame.scrollTop += ${framePixels}
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
  const after = await readSpent(clock)
  const eachMs = (after.threadMs - before.threadMs) / frames
  report({
    name: `page: a frame of scrolling through ${longSize} caches, ${framePixels / rowPixels} rows each`,
    measured: formatMs(eachMs),
    baseline: null,
    goal: `<= ${frameMostMs} ms`,
    isMet: eachMs <= frameMostMs,
  })
}

/** Ten thousand tiles: cost of a frame while the pointer moves over them, and while they are scrolled. */
async function measureMap(page: Page, clock: CDPSession, report: Report): Promise<void> {
  await page.getByRole('button', { name: 'Map', exact: true }).click()
  await page.getByRole('region', { name: 'Map of caches' }).getByRole('link').waitFor()
  const before = await readSpent(clock)
  const frames = await page.evaluate<number>(`new Promise((resolve) => {
    const frame = document.querySelector('.map')
    const plane = document.querySelector('.map-plane')
    let count = 0
    const step = () => {
      if (count++ === ${scrolledFrames}) return resolve(count - 1)
      const { left, top } = plane.getBoundingClientRect()
      frame.scrollTop += 8
      const [clientX, clientY] = [left + 8 * count, top + 60 + 4 * count]
      plane.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }))
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
  const after = await readSpent(clock)
  const eachMs = (after.threadMs - before.threadMs) / frames
  report({
    name: `page: a frame over the map of ${longSize} caches, pointed at and scrolled`,
    measured: formatMs(eachMs),
    baseline: null,
    goal: `<= ${frameMostMs} ms`,
    isMet: eachMs <= frameMostMs,
  })
}

async function readSpent(
  clock: CDPSession,
): Promise<{ readonly threadMs: number; readonly processMs: number }> {
  const { metrics } = await clock.send('Performance.getMetrics')
  const read = (name: string) => 1000 * (metrics.find((one) => one.name === name)?.value ?? NaN)
  return { threadMs: read('TaskDuration'), processMs: read('ProcessTime') }
}

function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

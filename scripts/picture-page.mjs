/** Makes docs/page.png: the page of a coordinator with 48 simulated caches, in Debian's Chromium. `npm run build`, then `node scripts/picture-page.mjs`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const base = 'http://127.0.0.1:8099'
/** Until hit ratios and rates of all caches are there. */
const settleMs = 15_000

const stateDir = mkdtempSync(join(tmpdir(), 'cachefleet-picture-'))
const daemon = spawn(
  process.execPath,
  [
    join(root, 'dist/bin/cachefleetd.js'),
    ...['--coordinator', '--state-dir', stateDir, '--listen', new URL(base).host],
    ...['--engine', 'simulate', '--simulate', '47', '--name', 'edge', '--tags', 'web,eu'],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
)
try {
  await waitUntilReady()
  await takePicture()
} finally {
  daemon.kill('SIGTERM')
  if (daemon.exitCode === null) await once(daemon, 'exit')
  rmSync(stateDir, { recursive: true })
}

async function waitUntilReady() {
  for (let left = 100; left > 0; left--) {
    const isReady = await fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await pause(200)
  }
  throw new Error(`the coordinator at ${base} was not ready within 20 s`)
}

async function takePicture() {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 640 } })
    await page.goto(base)
    await page.getByLabel('Name', { exact: true }).fill('admin')
    const password = readFileSync(join(stateDir, 'admin-password'), 'utf8').trim()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('edge-sim-00001').waitFor()
    await page.mouse.move(0, 0)
    await pause(settleMs)
    await page.screenshot({ path: join(root, 'docs/page.png') })
  } finally {
    await browser.close()
  }
}

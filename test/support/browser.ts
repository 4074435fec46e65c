/**
 * Debian's Chromium on the page of a real coordinator. Errors of the page itself (exceptions, refused scripts or
 * styles) are collected. Screenshots are saved to the folder in CACHEFLEET_SCREENSHOTS, if set.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core'
import { administrator, type TestEnd } from './daemon.js'
import { waitLimitMs } from './eventually.js'
import { root } from './root.js'

export interface OpenPage {
  readonly page: Page
  /** Errors and violations of the page's Content-Security-Policy so far. */
  readonly wrongs: string[]
  /** Another tab in the same browser profile, with the same cookies. */
  openTab(path?: string): Promise<OpenPage>
}

interface PageTest extends TestEnd {
  /** Absent in a benchmark, which has no verdict. */
  passing?(): boolean
}

interface PageSetup {
  readonly path?: string
  /** 1280 by 800 by default. */
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/** Debian's headless shell needs two thirds of the CPU time of the full browser, which works as well. */
const programs = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
]

/** Resolves to this machine, under a name that browsers do not trust without HTTPS. */
export const otherHost = 'fleet.example'

/** Closes with the test. One per test file: it takes a second to start. */
export async function startBrowser(t: TestEnd): Promise<Browser> {
  const executablePath = programs.find(existsSync)
  const browser = await chromium.launch({
    ...(executablePath === undefined ? { channel: 'chromium' } : { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // Rendering needs no GPU, so a GPU process would only cost time.
      '--in-process-gpu',
      // Browsers treat this machine as secure without HTTPS, but not another host name.
      `--host-resolver-rules=MAP ${otherHost} 127.0.0.1`,
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

/**
 * In its own profile, without a login. Closes with the test, or it would keep receiving and rendering updates until the file's last
 * test has ended.
 */
export async function openPage(
  t: PageTest,
  browser: Browser,
  base: string,
  { path = '/', width = 1280, theme = 'light' }: PageSetup = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width, height: 800 },
    colorScheme: theme,
    // So that elements are not in the middle of a colour transition.
    reducedMotion: 'reduce',
  })
  t.teardown(async () => {
    if (t.passing?.() === false) await describePages(context, open)
    await context.close()
  })
  context.setDefaultTimeout(waitLimitMs)
  const open = new Set<Request>()
  context.on('request', (request) => open.add(request))
  context.on('requestfinished', (request) => open.delete(request))
  context.on('requestfailed', (request) => open.delete(request))
  const openTab = async (to = '/'): Promise<OpenPage> => {
    const page = await context.newPage()
    const wrongs = collectWrongs(page)
    await page.goto(to)
    return { page, wrongs, openTab }
  }
  return openTab(path)
}

/** Describes a failed test: the page's text, and requests without a response. */
async function describePages(context: BrowserContext, open: ReadonlySet<Request>): Promise<void> {
  for (const page of context.pages()) {
    const shown = await page.innerText('body', { timeout: 5_000 }).catch(String)
    process.stderr.write(`# ${page.url()} shows ${JSON.stringify(shown.slice(0, 600))}\n`)
  }
  for (const request of open)
    process.stderr.write(`# not answered: ${request.method()} ${request.url()}\n`)
}

/** Submits the login form and waits for the page after it. */
export async function logInPage(
  page: Page,
  { user, password }: { readonly user: string; readonly password: string } = administrator,
): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(user)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Main' }).or(menuButton(page)).first().waitFor()
}

/** On a narrow screen. */
export function menuButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Menu' })
}

/** Violations found by axe-core (WCAG 2.2 A and AA, best practices): a line for each rule and place. */
export async function findBarriers(page: Page): Promise<string[]> {
  // By evaluation, which is exempt from the page's policy; once per document.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(await readAxe())
  // Passed rules are neither described nor sent: that would be most of the work.
  const found = await page.evaluate<AxeAnswer>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ({ violations }))",
  )
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} ${failureSummary ?? ''}`),
  )
}

interface AxeAnswer {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

function readAxe(): Promise<string> {
  return readFile(createRequire(join(root, 'package.json')).resolve('axe-core/axe.min.js'), 'utf8')
}

/** Saves a screenshot for later inspection. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['CACHEFLEET_SCREENSHOTS']
  if (folder === undefined || folder === '') return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

function collectWrongs(page: Page): string[] {
  const wrongs: string[] = []
  page.on('pageerror', (error) => wrongs.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (/content security policy/i.test(text)) wrongs.push(text)
  })
  return wrongs
}

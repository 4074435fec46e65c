/**
 * Debian's Chromium on the page of a coordinator as it is run. What the page does wrong by itself (an error, a refused
 * script or style) is collected. Screenshots go to the folder that CACHEFLEET_SCREENSHOTS names, if it names one.
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
  /** Errors and violations of the page's Content-Security-Policy, so far. */
  readonly wrongs: string[]
  /** Another tab of the same browser profile: the same cookies. */
  openTab(path?: string): Promise<OpenPage>
}

interface PageTest extends TestEnd {
  /** Absent where nothing is judged, in a benchmark. */
  passing?(): boolean
}

interface PageSetup {
  readonly path?: string
  /** 1280 by 800 unless given. */
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/** Debian's, without windows of its own: two thirds of the work of the whole one, which will do as well. */
const programs = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
]

/** Leads to this machine by a name that browsers do not trust without HTTPS. */
export const otherHost = 'fleet.example'

/** Ends with the test. One for a test file: it takes a second to start. */
export async function startBrowser(t: TestEnd): Promise<Browser> {
  const executablePath = programs.find(existsSync)
  const browser = await chromium.launch({
    ...(executablePath === undefined ? { channel: 'chromium' } : { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // Nothing is drawn by a GPU here: a process for it would only have to be started.
      '--in-process-gpu',
      // To browsers this machine is as good as HTTPS; a name of another one is not.
      `--host-resolver-rules=MAP ${otherHost} 127.0.0.1`,
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

/**
 * In a profile of its own: nobody is logged in. Ends with the test, or what it shows would be told to it, and drawn, until the file's
 * last test has ended.
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
    // What is looked at is not on its way from one colour to another.
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

/** For whoever reads why a test failed: what was shown, and which requests had no answer. */
async function describePages(context: BrowserContext, open: ReadonlySet<Request>): Promise<void> {
  for (const page of context.pages()) {
    const shown = await page.innerText('body', { timeout: 5_000 }).catch(String)
    process.stderr.write(`# ${page.url()} shows ${JSON.stringify(shown.slice(0, 600))}\n`)
  }
  for (const request of open)
    process.stderr.write(`# not answered: ${request.method()} ${request.url()}\n`)
}

/** Fills the login form that is shown, and waits for what comes after it. */
export async function logInPage(
  page: Page,
  { user, password }: { readonly user: string; readonly password: string } = administrator,
): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(user)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Main' }).or(menuButton(page)).first().waitFor()
}

/** Of a narrow screen. */
export function menuButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Menu' })
}

/** What axe-core (WCAG 2.2 A and AA, best practices) finds wrong: a line for each rule and place. */
export async function findBarriers(page: Page): Promise<string[]> {
  // By evaluation, which the page's policy does not concern; once for a document.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(await readAxe())
  // What is right is neither described nor sent: that is most of the work.
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

/** Kept to be looked at. */
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

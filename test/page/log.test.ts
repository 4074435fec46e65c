/** The live log and the top lists in the page, of a real cache with traffic. */
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { answering } from '../support/observe-cache.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
  type OpenPage,
} from '../support/browser.js'
import type { ApiClient } from '../support/api-client.js'
import { startCoordinator, type CoordinatorProcess } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

interface Harness extends OpenPage {
  readonly api: ApiClient
  readonly coordinator: CoordinatorProcess
  readonly group: number
  readonly agent: number
  /** Sends one request to the cache. */
  readonly ask: (path: string) => Promise<void>
}

void t.test('the log in the page', async (t) => {
  const harness = await start(t)
  const { wrongs } = harness

  await t.test('requests are shown as they are answered', (t) => showRequests(t, harness))
  await t.test('a click or a key on a request opens its details', () => openRequest(harness))
  await t.test('a whole record is shown as a timeline', (t) => showTimeline(t, harness))
  await t.test('texts of clients are shown as text only', (t) => showHostile(t, harness))
  await t.test('fields filter, and are kept in the address', (t) => filter(t, harness))
  await t.test('an invalid query is reported at its field', (t) => refuse(t, harness))
  await t.test('while paused, it reads nothing', (t) => pause(t, harness))
  await t.test('dropped lines are counted', () => drop(harness))
  await t.test('top lists use the same fields', (t) => countTop(t, harness))
  await t.test('groups and caches link to their log', (t) => follow(t, harness))
  await t.test('every view is accessible: light and dark, wide and narrow', (t) => look(t, harness))
  await t.test('leaving the view ends its stream', (t) => leave(t, harness))
  await t.test('an interrupted stream is reported and resumed', (t) => breakOff(t, harness))

  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const coordinator = await startCoordinator(t, {
    words: ['--name', 'edge', '--tags', 'here', '--sample-rate', '0'],
  })
  const { base, api } = coordinator
  const browser = await startBrowser(t)
  const { id, enginePort } = await eventually('the agent can read the log', async () => {
    const agent = await api.findAgent('edge')
    const isReady = agent?.stateName === 'Running' && agent.capabilities.includes('log')
    return isReady ? agent : undefined
  })
  const mainFile = await api.makeFile('shop.vcl', answering('shop'))
  const deployment = await api.makeDeployment('here', await api.findTag('here'))
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
  t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
  const ask = (path: string) => send(enginePort, path)
  const opened = await openPage(t, browser, base, { path: '/log' })
  await logInPage(opened.page)
  return { ...opened, coordinator, api, group, agent: id, ask }
}

/** Over a socket, since clients send requests that fetch would not. */
function send(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', reject).on('close', () => {
      resolve()
    })
    socket.resume()
    socket.end(`GET ${path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`)
  })
}

function rowsOf({ page }: Harness, text: string) {
  return page.getByRole('region', { name: 'Requests' }).getByRole('row').filter({ hasText: text })
}

/** Waits until this many processes of the cache's log tool are children of the daemon. */
async function untilReaders({ coordinator }: Harness, count: number): Promise<void> {
  await eventually(`${count} log tools run`, async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
    )
    const { pid: parent } = coordinator.daemon
    const isTool = (line: string) => new RegExp(`ncsa\\) \\S ${parent} `).test(line)
    return lines.filter(isTool).length === count
  })
}

/** Repeats the request until it is shown: a stream begins some time after its call. */
async function untilShown(harness: Harness, path: string, text = path): Promise<void> {
  await eventually(`${text} is shown`, async () => {
    await harness.ask(path)
    return (await rowsOf(harness, text).count()) > 0
  })
}

async function showRequests(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Log' }).waitFor()
  await page.getByRole('main').getByRole('status').getByText('Live').waitFor()
  await untilShown(harness, '/first')
  await harness.ask('/second')
  await rowsOf(harness, '/second').first().waitFor()
  const newest = await page
    .getByRole('region', { name: 'Requests' })
    .getByRole('row')
    .nth(1)
    .textContent()
  t.match(newest, /^\d\d:\d\d:\d\d\.\d{3}200synthGETshop\.example\/secondedge[\d.]+ ms[\d.]+ B$/)
}

async function openRequest(harness: Harness): Promise<void> {
  const { page } = harness
  await rowsOf(harness, '/second').first().getByRole('button').focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'GET shop.example/second' })
  await dialog.getByText('none was asked').waitFor()
  await dialog.getByRole('link', { name: 'edge' }).waitFor()
  await dialog.getByRole('link', { name: 'shop', exact: true }).waitFor()
  await keepScreenshot(page, 'log-request')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

async function showTimeline(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  await page.getByRole('checkbox', { name: 'Whole records' }).check()
  t.equal(new URL(page.url()).searchParams.get('detail'), 'true')
  await untilShown(harness, '/whole\u202e', '/whole\\u202e')
  await rowsOf(harness, '/whole').first().getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'GET shop.example/whole' })
  const steps = dialog.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
  await steps.first().waitFor()
  t.same(await steps.locator('strong').allTextContents(), ['Received', 'Hash', 'Deliver'])
  t.match(await steps.first().textContent(), /^Received[\d.]+ ms.*ReqURL\/whole\\u202e/)
  await lookAt(t, harness, 'log-timeline')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: 'Whole records' }).uncheck()
}

async function showHostile(t: Test, harness: Harness): Promise<void> {
  await untilShown(
    harness,
    '/<img/src=x/onerror=alert(1)>\u202e',
    '/<img/src=x/onerror=alert(1)>\\u202e',
  )
  t.equal(await harness.page.locator('img').count(), 0)
}

async function filter(t: Test, harness: Harness): Promise<void> {
  const { page, group } = harness
  await page.getByLabel('URL contains').fill('/b?c')
  await page.getByLabel('URL contains').press('Enter')
  await page.getByLabel('Status').selectOption('2xx')
  await page.getByRole('combobox', { name: 'Group' }).fill('shop')
  await page.getByRole('combobox', { name: 'Group' }).press('Enter')
  await page.getByRole('list', { name: 'Chosen: Group' }).getByText('shop').waitFor()
  await page.getByText('RespStatus >= 200 and RespStatus < 300 and ReqURL ~ "/b\\\\?c"').waitFor()
  t.same(Object.fromEntries(new URL(page.url()).searchParams), {
    url: '/b?c',
    status: '2xx',
    vclGroup: String(group),
  })
  await eventually('a matching request is shown', async () => {
    await harness.ask('/other')
    await harness.ask('/a/b?c')
    return (await rowsOf(harness, '/a/b?c').count()) > 0
  })
  t.equal(await rowsOf(harness, '/other').count(), 0)

  await page.getByLabel('Handling').selectOption('synth')
  await untilShown(harness, '/a/b?c&d')
  await page.getByRole('button', { name: 'Remove shop' }).click()
  await page.getByLabel('Handling').selectOption('')
  await page.getByLabel('Status').selectOption('')
  await page.getByLabel('URL contains').fill('')
}

async function refuse(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  const query = page.getByLabel('Query')
  await query.fill('RespStatus == 200 andd Hit')
  await query.press('Enter')
  await page.getByText(/^Q, position 19: "andd" is not expected here/).waitFor()
  await page.getByRole('status').getByText('Ended').waitFor()
  t.equal(await page.evaluate('getSelection().toString()'), 'andd')
  await keepScreenshot(page, 'log-refused')

  await query.fill('RespStatus == 200')
  await query.press('Enter')
  await page.getByRole('main').getByRole('status').getByText('Live').waitFor()
  await query.fill('')
  await query.press('Enter')
}

async function pause(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  await untilShown(harness, '/before-pause')
  await untilReaders(harness, 1)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('status').getByText('Paused').waitFor()
  await untilReaders(harness, 0)
  await harness.ask('/while-paused')
  t.ok((await rowsOf(harness, '/before-pause').count()) > 0, 'lines that were read remain')
  await page.getByRole('button', { name: 'Resume' }).click()
  await untilShown(harness, '/after-pause')
  t.equal(await rowsOf(harness, '/while-paused').count(), 0)
}

async function drop(harness: Harness): Promise<void> {
  await eventually('lines are dropped', async () => {
    await Promise.all(Array.from({ length: 150 }, () => harness.ask('/many')))
    return (await harness.page.getByText(/ lines? (were|was) left out/).count()) > 0
  })
  await keepScreenshot(harness.page, 'log-dropped')
}

async function countTop(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  await page.getByLabel('URL contains').fill('/top')
  await page.getByLabel('URL contains').press('Enter')
  await page
    .getByRole('navigation', { name: 'Parts of the log' })
    .getByRole('link', { name: 'Top' })
    .click()
  await page.getByRole('button', { name: 'Count', exact: true }).click()
  const row = page
    .getByRole('region', { name: 'Top' })
    .getByRole('row')
    .filter({ hasText: '/top/1' })
  await eventually('the URL is counted', async () => {
    await Promise.all([
      harness.ask('/top/1'),
      harness.ask('/top/1'),
      harness.ask('/top/2'),
      harness.ask('/else'),
    ])
    return (await row.count()) > 0
  })
  const rows = page.getByRole('region', { name: 'Top' }).getByRole('row')
  t.match(await rows.nth(1).textContent(), /^shop\.example\/top\/1\d+[\d.]+%$/)
  t.equal(await rows.count(), 3, 'a header and two URLs')
  await page.getByText(/^Counted for 5 s until \d\d:\d\d:\d\d$/).waitFor()
  await page.getByRole('button', { name: 'Bytes' }).click()
  t.equal(new URL(page.url()).searchParams.get('by'), 'bytes')
  await lookAt(t, harness, 'top')
}

async function follow(t: Test, { page, group, agent }: Harness): Promise<void> {
  for (const [path, name, to] of [
    [`/groups/${group}`, 'Parts of the group', `/log?vclGroup=${group}`],
    [`/caches/${agent}`, 'Parts of edge', `/log?agents=${agent}`],
  ] as const) {
    await page.goto(path)
    await page.getByRole('navigation', { name }).getByRole('link', { name: 'Log' }).click()
    await page.waitForURL(`**${to}`)
  }
  await page.getByRole('list', { name: 'Chosen: Caches' }).getByText('edge').waitFor()
}

async function look(t: Test, harness: Harness): Promise<void> {
  for (const path of [
    '/looked-at',
    '/img/a-rather-long-name-of-a-picture.webp?width=640&format=auto',
  ])
    await untilShown(harness, path)
  await lookAt(t, harness, 'log')
}

async function lookAt(t: Test, { page }: Harness, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1280]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
      t.same(await findBarriers(page), [], `${colorScheme} ${width}`)
      const wide = 'document.documentElement.scrollWidth > innerWidth'
      t.equal(await page.evaluate(wide), false, 'nothing overflows')
    }
}

async function leave(t: Test, harness: Harness): Promise<void> {
  const { page } = harness
  await untilReaders(harness, 1)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tags' }).click()
  await page.getByRole('heading', { name: 'Tags' }).waitFor()
  await untilReaders(harness, 0)
  t.pass('no tool runs for it any more')
}

async function breakOff(t: Test, harness: Harness): Promise<void> {
  const { page, coordinator } = harness
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Log' }).click()
  await page.getByRole('main').getByRole('status').getByText('Live').waitFor()
  await coordinator.daemon.stop()
  await page.getByRole('status').getByText('Broken: taken up again').waitFor()
  await coordinator.start()
  await page.getByRole('main').getByRole('status').getByText('Live').waitFor()
}

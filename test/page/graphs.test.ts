/** The graphs in the page, of a real cache with traffic: lines with values and units, zoom, a table, and the reason for a missing graph. */
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
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

interface Harness extends OpenPage {
  readonly api: ApiClient
  readonly group: number
}

void t.test('graphs in the page', async (t) => {
  const harness = await start(t)
  const { wrongs } = harness

  await t.test('all caches come first, with their units', () => showTraffic(harness))
  await t.test('a table shows the same values', (t) => readTable(t, harness))
  await t.test('a typed name selects the cache to show', (t) => pickCaches(t, harness))
  await t.test('a group shows its caches’ sums, or why it has none', (t) => showGroup(t, harness))
  await t.test('events are marked, and compared with the time before', (t) => mark(t, harness))
  await t.test('every view is accessible: light and dark, wide and narrow', (t) => look(t, harness))
  await t.test('dragging zooms, and Back returns to the previous range', (t) => zoom(t, harness))
  await t.test('keys zoom as well, and are listed in the help', (t) => zoomByKeys(t, harness))

  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const { base, api } = await startCoordinator(t, {
    words: ['--name', 'edge', '--tags', 'here', '--stats-interval', '1', '--simulate', '2'],
  })
  const browser = await startBrowser(t)
  await eventually(
    'the agent is Running',
    async () => (await api.findAgent('edge'))?.stateName === 'Running',
  )
  const mainFile = await api.makeFile('shop.vcl', answering('shop'))
  const deployment = await api.makeDeployment('here', await api.findTag('here'))
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
  const { id, enginePort } = (await api.findAgent('edge')) ?? { id: 0, enginePort: 0 }
  await eventually('requests are counted', async () => {
    for (let sent = 0; sent < 20; sent++) await fetch(`http://127.0.0.1:${enginePort}/`)
    const now = Math.floor(Date.now() / 1000)
    const path = `/agents/${id}/stats/client_req/AVERAGE/${now - 600}/${now}`
    const { text } = await api.call('GET', path)
    const { values } = JSON.parse(text) as { values: readonly { value: number }[] } // of the API
    return values.filter(({ value }) => value > 0).length > 2
  })
  const opened = await openPage(t, browser, base, { path: '/graphs?range=10m' })
  await logInPage(opened.page)
  return { ...opened, api, group }
}

async function showTraffic({ page }: Harness): Promise<void> {
  const chart = page.getByRole('figure', { name: 'Requests', exact: true })
  await chart
    .getByText(/^[\d.,]+\/s$/)
    .first()
    .waitFor()
  await page
    .getByRole('figure', { name: 'Storage' })
    .getByText(/^[\d.,]+ MiB$/)
    .first()
    .waitFor()
  await eventually('a line is drawn', () =>
    page.evaluate<boolean>(`${inked}('Requests', '.chart-line')`),
  )
}

/** Whether a chart's canvas has a pixel in the colour of the element that the selector finds beside it. */
const inked = `((name, selector) => {
  const figure = [...document.querySelectorAll('figure')].find((one) => one.textContent.startsWith(name))
  const canvas = figure.querySelector('canvas')
  const ink = getComputedStyle(figure.querySelector(selector)).color.match(/\\d+/g).map(Number)
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] > 200 && ink.every((part, place) => Math.abs(data[at + place] - part) < 24)) return true
  return false
})`

async function readTable(t: Test, { page }: Harness): Promise<void> {
  const chart = page.getByRole('figure', { name: 'Threads' })
  await chart.getByText('As a table').click()
  const rows = chart.getByRole('row')
  await rows.nth(1).waitFor()
  t.match(await rows.first().textContent(), 'TimeThreadsRequests waiting')
  await chart.getByText('As a table').click()
}

function choose({ page }: Harness, kind: string): Promise<void> {
  return page.getByRole('button', { name: kind, exact: true }).click()
}

function readField({ page }: Harness, name: string): string | null {
  return new URL(page.url()).searchParams.get(name)
}

async function pickCaches(t: Test, harness: Harness): Promise<void> {
  const { page, api } = harness
  const shown = page.getByRole('list', { name: 'Shown caches' })
  const ids = await Promise.all(
    ['edge', 'edge-sim-00001', 'edge-sim-00002'].map(
      async (name) => (await api.findAgent(name))?.id ?? 0,
    ),
  )
  const field = page.getByRole('combobox', { name: 'Add a cache' })
  const answerNames = await holdNames(harness)
  await choose(harness, 'Caches')
  await field.fill('EDGE')
  await field.press('Enter')
  answerNames()
  await shown.getByText('edge', { exact: true }).waitFor()
  t.equal(readField(harness, 'of'), `agents/${ids[0]}`, 'an exact name wins over a longer one')
  await page.getByRole('figure', { name: 'Threads' }).waitFor()

  await field.fill('00002')
  await field.blur()
  await shown.getByText('edge-sim-00002').waitFor()
  t.equal(readField(harness, 'of'), `agents/${ids[0]},${ids[2]}`)
  await page
    .getByRole('figure', { name: 'Caches measured' })
    .getByText('2', { exact: true })
    .waitFor()
  await page.goBack()
  await shown.getByText('edge-sim-00002').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove edge' }).click()
  await page.getByRole('figure', { name: 'Caches measured' }).waitFor()
  t.equal(readField(harness, 'of'), null)

  await choose(harness, 'Tag')
  await page.getByRole('combobox', { name: 'Tag' }).fill('simul')
  await page.getByRole('combobox', { name: 'Tag' }).press('Enter')
  await page
    .getByRole('figure', { name: 'Caches measured' })
    .getByText('2', { exact: true })
    .waitFor()
}

/** Holds back the list of names until the returned function is called, as for a user who types faster than it loads. */
async function holdNames({ page }: Harness): Promise<() => void> {
  let answer = () => {}
  const isAsked = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/agents?sort=name', async (route) => {
    await isAsked
    await route.continue()
  })
  return answer
}

async function showGroup(t: Test, harness: Harness): Promise<void> {
  const { page, api, group } = harness
  const threads = page.getByRole('figure', { name: 'Threads' })
  await choose(harness, 'Group')
  const field = page.getByRole('combobox', { name: 'Group' })
  await field.fill('shop')
  await field.press('Enter')
  await page.getByText(/The group is not on any cache now/).waitFor()
  await choose(harness, 'All caches')
  await threads.waitFor()

  t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
  await page.goBack()
  // 200 when idle; more if requests had to wait.
  await threads.getByText(/^[1-9][0-9,]{2,}$/).waitFor()
  t.equal(readField(harness, 'of'), `vclgroups/${group}`)
}

async function mark(t: Test, { page, group }: Harness): Promise<void> {
  const events = page.getByText('In this range: 1 deploy')
  await events.click()
  const entry = page.getByRole('link', { name: /^Deploy: shop, revision 1 by / })
  t.equal(await entry.getAttribute('href'), `/groups/${group}/history`)
  const drawn = `${inked}('Storage', 'h2')`
  await eventually('a mark is drawn', () => page.evaluate<boolean>(drawn))

  const compare = page.getByLabel('Compare with')
  await compare.selectOption({ label: await compare.getByText(/^before Deploy: shop/).innerText() })
  await page.getByText('Dashed: before the deploy').first().waitFor()
  await page
    .getByRole('figure', { name: 'Threads' })
    .getByText(/was [1-9][0-9,]{2,}/)
    .waitFor()
  await keepScreenshot(page, 'graphs-compared')
  await page.goBack()
  await page.getByText('Dashed: before the deploy').first().waitFor({ state: 'detached' })
  await events.click()
}

async function look(t: Test, { page }: Harness): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await keepScreenshot(page, `graphs-${colorScheme}-${width}`)
      t.same(await findBarriers(page), [], `${colorScheme} ${width}`)
    }
  const wide = 'document.documentElement.scrollWidth > innerWidth'
  t.equal(await page.evaluate(wide), false, 'nothing overflows')
  await page.setViewportSize({ width: 1280, height: 800 })
}

async function zoom(t: Test, { page }: Harness): Promise<void> {
  const plot = page.getByRole('img', { name: 'Hit ratio, as lines' })
  await plot.scrollIntoViewIfNeeded()
  const box = await eventually('the chart is drawn', () => plot.boundingBox())
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.4, middle)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 })
  await page.mouse.move(box.x + box.width * 0.9, middle, { steps: 4 })
  await page.mouse.up()

  const live = page.getByRole('button', { name: 'Back to live' })
  await live.waitFor()
  const [from = 0, to = 0] = (new URL(page.url()).searchParams.get('range') ?? '')
    .split('-')
    .map(Number)
  t.ok(to - from >= 30 && to - from < 500, `a part of ten minutes: ${to - from} s`)
  await page.reload()
  await live.waitFor()
  await page.goBack()
  await live.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: '10 min', pressed: true }).waitFor()
  await page.goForward()
  await live.click()
  await live.waitFor({ state: 'detached' })
  await page.getByRole('figure', { name: 'Hit ratio', exact: true }).waitFor()
  t.equal(new URL(page.url()).searchParams.get('range'), null)
}

async function zoomByKeys(t: Test, { page }: Harness): Promise<void> {
  const pressed = (title: string) =>
    page.getByRole('button', { name: title, exact: true, pressed: true })
  const readLength = () => {
    const word = new URL(page.url()).searchParams.get('range') ?? ''
    const [from = 0, to = 0] = word.split('-').map(Number)
    return to - from
  }
  await pressed('1 h').waitFor()
  await page.keyboard.press('+')
  await pressed('10 min').waitFor()
  await page.keyboard.press('-')
  await pressed('1 h').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByRole('button', { name: 'Back to live' }).waitFor()
  t.equal(readLength(), 3_600)
  await page.keyboard.press('+')
  await eventually('the range is half as long', () => Promise.resolve(readLength() === 1_800))
  await page.keyboard.press('-')
  await page.keyboard.press('ArrowRight')
  await page.getByRole('figure', { name: 'Hit ratio', exact: true }).waitFor()

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('Earlier').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Back to live' }).click()
}

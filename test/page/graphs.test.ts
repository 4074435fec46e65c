/** The graphs in the page, of a real cache with traffic: lines with values and units, zoom, a table, and why there may be none. */
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

  await t.test('they show what the cache did, with its units', () => showTraffic(harness))
  await t.test('a table says the same', (t) => readTable(t, harness))
  await t.test('a group has the sums of its caches, or says why not', (t) => showGroup(t, harness))
  await t.test('everybody can use it: light and dark, wide and narrow', (t) => look(t, harness))
  await t.test('dragging zooms, and the address keeps it', (t) => zoom(t, harness))
  await t.test('keys do it as well, and are told', (t) => zoomByKeys(t, harness))

  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const { base, api } = await startCoordinator(t, {
    words: ['--name', 'edge', '--tags', 'here', '--stats-interval', '1'],
  })
  const browser = await startBrowser(t)
  await eventually(
    'the agent runs',
    async () => (await api.findAgent('edge'))?.stateName === 'Running',
  )
  const mainFile = await api.makeFile('shop.vcl', answering('shop'))
  const deployment = await api.makeDeployment('here', await api.findTag('here'))
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
  const { id, enginePort } = (await api.findAgent('edge')) ?? { id: 0, enginePort: 0 }
  await eventually('requests were counted', async () => {
    for (let sent = 0; sent < 20; sent++) await fetch(`http://127.0.0.1:${enginePort}/`)
    const now = Math.floor(Date.now() / 1000)
    const path = `/agents/${id}/stats/client_req/AVERAGE/${now - 600}/${now}`
    const { text } = await api.call('GET', path)
    const { values } = JSON.parse(text) as { values: readonly { value: number }[] } // the API's
    return values.filter(({ value }) => value > 0).length > 2
  })
  const opened = await openPage(browser, base, { path: '/graphs?range=10m' })
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
  await eventually('a line is drawn', () => page.evaluate<boolean>(`${inked}('Requests')`))
}

/** Whether a canvas has a point in the colour of the first line. */
const inked = `((name) => {
  const figure = [...document.querySelectorAll('figure')].find((one) => one.textContent.startsWith(name))
  const canvas = figure.querySelector('canvas')
  const ink = getComputedStyle(figure.querySelector('.chart-line')).color.match(/\\d+/g).map(Number)
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

async function showGroup(t: Test, { page, api, group }: Harness): Promise<void> {
  const choose = (kind: string) => page.getByRole('button', { name: kind, exact: true }).click()
  const threads = page.getByRole('figure', { name: 'Threads' })
  await choose('Group')
  await page.getByText(/The group is not on any cache now/).waitFor()
  await choose('Cache')
  await threads.waitFor()

  t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
  await choose('Group')
  // 200 at rest; more where requests had to wait.
  await threads.getByText(/^[1-9][0-9,]{2,}$/).waitFor()
  t.equal(new URL(page.url()).searchParams.get('of'), `vclgroups/${group}`)
  await choose('Cache')
  await threads.waitFor()
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
  t.equal(await page.evaluate(wide), false, 'nothing sticks out')
  await page.setViewportSize({ width: 1280, height: 800 })
}

async function zoom(t: Test, { page }: Harness): Promise<void> {
  const plot = page.getByRole('img', { name: 'Hit ratio, as lines' })
  const box = await eventually('it is drawn', () => plot.boundingBox())
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
  t.ok(to - from > 200 && to - from < 500, `half of ten minutes: ${to - from} s`)
  await page.reload()
  await live.click()
  await live.waitFor({ state: 'detached' })
  await page.getByRole('figure', { name: 'Hit ratio' }).waitFor()
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
  await page.getByText('No data in this range').waitFor()
  t.equal(readLength(), 3_600)
  await page.keyboard.press('+')
  await eventually('it is half as long', () => Promise.resolve(readLength() === 1_800))
  await page.keyboard.press('-')
  await page.keyboard.press('ArrowRight')
  await page.getByRole('figure', { name: 'Hit ratio' }).waitFor()

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('Earlier').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Back to live' }).click()
}

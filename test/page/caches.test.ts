/** The fleet in a browser: live rates of the visible rows, filters in the address, actions on several caches, the map. */
import t from 'tap'
import type { NewestStats } from '../../src/page/api/newest-stats.js'
import { toRates } from '../../src/page/views/caches/sort-caches.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import type { Reference } from '../support/api-client.js'
import { makeStateDir, startCoordinator, startDaemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

void t.test('the fleet', async (t) => {
  const { base, port, api } = await startCoordinator(t, {
    words: '--no-agent --name edge --simulate 90 --heartbeat 10 --stats-interval 2'.split(' '),
  })
  const browser = await startBrowser(t)
  const hostile = '<img src=x onerror=alert(1)>'
  const tag = await api.makeTag(hostile)
  await eventually('the cache is registered', async () => {
    const agent = await api.findAgent('edge-sim-00007')
    if (!agent) return false
    return (await api.call('PUT', `/agents/${agent.id}`, { tags: [{ id: tag }] })).status === 200
  })

  // All must be registered, as the order of registration is random and the end of the list must not change.
  await eventually('all caches are registered', async () => (await api.listAgents()).length === 90)

  await t.test('visible rows show their rates, also after scrolling', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/events')) asked.push(searchParams.get('live') ?? '')
    })
    await logInPage(page)
    const first = page.getByRole('row').filter({ hasText: 'edge-sim-00001' })
    await first.getByText(/^[\d.,]+\/s$/).waitFor()
    await first.getByText(/^[\d.]+%$/).waitFor()
    await first.getByText('In sync').first().waitFor()

    await page.getByRole('region', { name: 'Caches' }).press('End')

    const last = page.getByRole('row').filter({ hasText: 'edge-sim-00090' })
    await last.getByText(/^[\d.,]+\/s$/).waitFor()
    t.ok(
      asked.every((ids) => ids.split(',').length < 100),
      'only visible caches are sampled',
    )

    await page.getByText('edge-sim-00090').click()
    await page.getByRole('heading', { name: 'edge-sim-00090' }).waitFor()
    await eventually('the stream samples only the opened cache', () =>
      Promise.resolve(/^\d+$/.test(asked.at(-1) ?? '')),
    )
    t.same(wrongs, [])
  })

  await t.test('it is sorted by the rates of all caches, and the address keeps that', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
    const readings: NewestStats[] = []
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.endsWith('/stats'))
        void response.json().then(
          (read: NewestStats) => readings.push(read),
          () => undefined, // the page is closed during a request
        )
    })
    await logInPage(page)
    const ids = new Map((await api.listAgents()).map(({ id, name }) => [name, id]))
    const names = page.getByRole('row').locator('td:nth-child(2)')
    const untilSorted = (isDescending: boolean) =>
      eventually('the first rows are the first of all caches', async () => {
        const rates = toRates(readings.at(-1) ?? { counters: [], agents: [] })
        const drawn = (await names.allTextContents()).slice(0, 10)
        const shown = drawn.map((name) => rates.get(ids.get(name) ?? 0)?.requests ?? null)
        const all = [...rates.values()].flatMap(({ requests }) => requests ?? [])
        all.sort((a, b) => (isDescending ? b - a : a - b))
        return all.length > 80 && shown.join() === all.slice(0, 10).join()
      })

    await page.getByText('edge-sim-00002').waitFor()
    await page.evaluate("document.querySelector('.table-frame').scrollTop = 1500")
    await page.getByRole('button', { name: 'Requests', exact: true }).click()
    await untilSorted(true)
    t.equal(await page.evaluate("document.querySelector('.table-frame').scrollTop"), 0)
    await page.getByRole('button', { name: 'Requests', exact: true }).click()
    await untilSorted(false)
    await page.getByRole('button', { name: 'Requests', exact: true }).click()
    await untilSorted(true)
    await page.reload()
    await untilSorted(true)

    t.equal(new URL(page.url()).searchParams.get('sort'), '-Requests')
    await page.getByRole('columnheader', { name: 'Requests', exact: true }).waitFor()
    t.same(await findBarriers(page), [])
    await keepScreenshot(page, 'fleet-by-requests')
    t.same(wrongs, [])
  })

  await t.test('the filters are in the address, and a hostile tag is shown as text', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
    await logInPage(page)
    await page.getByRole('combobox', { name: 'Tag' }).selectOption(hostile)
    const rows = page.getByRole('row').filter({ hasText: 'edge-sim-' })
    await page.getByText('edge-sim-00008').waitFor({ state: 'detached' })
    t.equal(await rows.count(), 1)

    await page.getByRole('button', { name: /^Running/ }).click()
    await page.reload()

    await rows.first().waitFor()
    t.match(await rows.allTextContents(), [/^edge-sim-00007/])
    const fields = new URL(page.url()).searchParams
    t.equal(fields.get('tag'), hostile)
    t.equal(fields.get('state'), 'Running')
    t.equal(await page.locator('img').count(), 0)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await keepScreenshot(page, `fleet-${width}`)
      t.same(await findBarriers(page), [], `${width}`)
    }

    await page.goto('/caches?config=Failed')
    await page.getByText('No cache matches these filters').waitFor()
    t.equal(await page.getByRole('combobox', { name: 'Config' }).inputValue(), 'Failed')
    await page.getByRole('link', { name: 'Show all caches' }).click()
    await page.getByText('edge-sim-00008').waitFor()
    t.equal(new URL(page.url()).search, '')
    t.same(wrongs, [])
  })

  await t.test('rows are selected by box, by range and by key, and tagged together', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches?sort=Name' })
    await logInPage(page)
    const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` })
    const chosen = page.getByRole('group', { name: 'Selected caches' })
    await box('edge-sim-00002').click()
    await box('edge-sim-00005').click({ modifiers: ['Shift'] })
    await chosen.getByText('4 caches selected').waitFor()
    await box('edge-sim-00003').click()
    await page.getByRole('link', { name: 'edge-sim-00008' }).focus()
    await page.keyboard.press('Space')
    await chosen.getByText('4 caches selected').waitFor()
    t.equal(await box('edge-sim-00008').isChecked(), true)
    t.equal(await box('edge-sim-00003').isChecked(), false)
    t.match(
      await chosen.getByRole('link', { name: 'Ban' }).getAttribute('href'),
      /\?agents=(\d+,){3}\d+$/,
    )
    t.match(await chosen.getByRole('link', { name: 'Compare' }).getAttribute('href'), /agents/)
    await keepScreenshot(page, 'fleet-selected')
    t.same(await findBarriers(page), [])

    const night = await api.makeTag('night')
    await chosen.getByRole('button', { name: 'Tags' }).click()
    const dialog = page.getByRole('dialog', { name: 'Tags of 4 caches' })
    await dialog.getByLabel('night').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const bearing = async (): Promise<readonly string[]> =>
      (await api.listAgents())
        .filter(({ tags }) => tags.some(({ id }) => id === night))
        .map(({ name }) => name)
        .sort()
    t.same(
      await bearing(),
      ['2', '4', '5', '8'].map((digit) => `edge-sim-0000${digit}`),
    )

    await page.getByRole('button', { name: 'Undo' }).click()

    await eventually('the tag is removed again', async () => (await bearing()).length === 0)
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).click()
    await chosen.getByText('90 caches selected').waitFor()
    await chosen.getByRole('button', { name: 'Clear the selection' }).click()
    await chosen.waitFor({ state: 'detached' })
    t.same(wrongs, [])
  })

  await t.test('the selected caches are the target of the ban form', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches?sort=Name' })
    await logInPage(page)
    await page.getByRole('checkbox', { name: 'Select edge-sim-00004' }).click()
    await page.getByRole('checkbox', { name: 'Select edge-sim-00006' }).click()
    await page.getByRole('link', { name: 'Ban' }).click()
    for (const name of ['edge-sim-00004', 'edge-sim-00006'])
      await eventually(`${name} is chosen`, () => page.getByLabel(name).isChecked())
    t.same(wrongs, [])
  })

  await t.test(
    'the map shows each cache as a tile, which the keys and the pointer open',
    async (t) => {
      const { page, wrongs } = await openPage(t, browser, base, { path: '/caches?q=edge-sim-0000' })
      await logInPage(page)
      await page.getByRole('button', { name: 'Map', exact: true }).click()
      const map = page.getByRole('region', { name: 'Map of caches' })
      await map.getByRole('heading', { name: 'All caches 9' }).waitFor()
      const tile = map.getByRole('link')
      t.match(await tile.getAttribute('aria-label'), /^edge-sim-00001, Running/)
      await tile.focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      await eventually('the third tile is focused', async () =>
        /^edge-sim-00003/.test(
          await page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? ""'),
        ),
      )
      await eventually('its rate is shown', async () =>
        /\d\/s$/.test((await tile.getAttribute('aria-label')) ?? ''),
      )
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1920, 1280, 390]) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          await keepScreenshot(page, `map-${colorScheme}-${width}`)
          t.same(await findBarriers(page), [], `${colorScheme} ${width}`)
        }
      t.equal(new URL(page.url()).searchParams.get('show'), 'map')
      await page.reload()
      await map.getByRole('heading', { name: 'All caches 9' }).waitFor()
      const box = await map.locator('canvas').boundingBox()
      await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 40)
      await map.getByText('edge-sim-00001').waitFor()
      await page.mouse.down()
      await page.mouse.up()
      await page.getByRole('heading', { name: 'edge-sim-00001' }).waitFor()
      t.same(wrongs, [])
    },
  )

  await t.test('on a phone, each cache is a card with all facts of its row', async (t) => {
    const path = '/caches?q=edge-sim-00007'
    const { page, wrongs } = await openPage(t, browser, base, { path, width: 390 })
    await logInPage(page)
    const card = page.getByRole('listitem').filter({ hasText: 'edge-sim-00007' })
    for (const fact of ['Running', 'In sync', hostile, /^varnish \d/])
      await card.getByText(fact).first().waitFor()
    await card.getByText(/[\d.,]+\/s$/).waitFor()
    await card.getByText(/[\d.]+%$/).waitFor()
    await keepScreenshot(page, 'fleet-cards')
    t.same(await findBarriers(page), [])
    await card.getByRole('link').click()
    await page.getByRole('heading', { name: 'edge-sim-00007' }).waitFor()
    t.same(wrongs, [])
  })

  await t.test(
    'a cache that is Down is first, shows the reason, and shows neither health nor rates',
    async (t) => {
      const stateDir = await makeStateDir(t)
      const lost = startDaemon(
        t,
        [
          ...['--no-agent', '--simulate', '1', '--name', 'lost', '--state-dir', stateDir],
          ...['--coordinator-url', `ws://127.0.0.1:${port}`, '--tags', 'lost'],
        ],
        { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken() },
      )
      const find = () => api.findAgent('lost-sim-00001')
      await eventually('the agent is Running', async () => (await find())?.state === 1)
      const group = await api.makeGroup({
        name: 'lost-shop',
        mainFile: await api.makeFile(
          'lost.vcl',
          'vcl 4.1; backend origin { .host = "192.0.2.1"; }',
        ),
        deployment: await api.makeDeployment('lost', await api.findTag('lost')),
      })
      t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
      await eventually('the agent reported its backends', async () =>
        (await api.call('GET', '/backends')).text.includes('origin'),
      )
      const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
      await logInPage(page)
      const row = page.getByRole('row').filter({ hasText: 'lost-sim-00001' })
      await page
        .getByRole('row')
        .filter({ hasText: 'edge-sim-00002' })
        .getByText(/^[\d.,]+\/s$/)
        .waitFor()

      await lost.kill()

      await row.getByText('Down', { exact: true }).waitFor()
      await row.getByText('The agent does not answer').waitFor()
      t.match(await page.getByRole('row').nth(1).textContent(), /^lost-sim-00001/)
      t.equal(await row.getByText(/\/s$|%$/).count(), 0, 'no outdated rate')
      await page.getByRole('button', { name: 'Map', exact: true }).click()
      await page.getByText('Error 1', { exact: true }).waitFor()
      await page.goto(`/caches/${(await find())?.id ?? 0}`)
      const unmeasured = page.getByText('No figures are available while the agent is Down.')
      await unmeasured.waitFor()
      t.notMatch(await unmeasured.innerText(), '\n', 'one sentence')
      const problems = page.getByRole('region', { name: 'Problems' })
      await problems.getByText('The agent does not answer').waitFor()
      await problems.getByText('cachefleetd doctor').waitFor()
      t.same(await findBarriers(page), [])
      await page.getByRole('link', { name: 'Backends', exact: true }).last().click()
      await page.getByText(/^The cache is unreachable: the last heartbeat/).waitFor()
      t.equal(await page.getByText('Trace').count(), 0, 'the problem is shown once, above')
      await page.getByText(/^As of .+, cache is Down:$/).waitFor()
      const known = page.getByRole('table', { name: 'Backends as last reported' })
      await known.getByText('lost-shop').waitFor()
      await known.getByText('Healthy', { exact: true }).waitFor()
      await keepScreenshot(page, 'cache-down-backends')
      t.same(await findBarriers(page), [])
      t.same(wrongs, [])
    },
  )

  await t.test('a user with read permission is offered no changes', async (t) => {
    const password = 'another correct horse'
    const make = async (path: string, body: object): Promise<number> => {
      const { status, text } = await api.call('POST', path, body)
      t.equal(status, 201, text)
      return (JSON.parse(text) as Reference).id // every created object has an id
    }
    const organization = { id: await make('/organizations', { name: 'shop' }) }
    // The first account of an organization is its administrator.
    await make('/accounts', { name: 'boss', password, organization })
    const account = { id: await make('/accounts', { name: 'reader', password, organization }) }
    await make('/permissions', { account, organization, type: 'agent', read: true, write: false })
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches?q=00009' })
    await page.getByLabel('Organization').fill('shop')
    await logInPage(page, { user: 'reader', password })

    await page.getByText('edge-sim-00009').click()

    await page.getByRole('region', { name: 'Last panic' }).getByText('None.').waitFor()
    const offered = page.getByRole('navigation', { name: 'Parts of edge-sim-00009' })
    t.same(await offered.getByRole('link').allTextContents(), [
      ...['Status', 'VCLs', 'Backends', 'Parameters', 'Bans'],
    ])
    t.equal(await page.locator('a[href^="/graphs"]').count(), 0, 'without permission for stats')
    for (const name of ['Tags', 'Delete'])
      t.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    await offered.getByRole('link', { name: 'Parameters' }).click()
    await page.getByRole('button', { name: 'About auto_restart' }).waitFor()
    t.same(wrongs, [])
  })
})

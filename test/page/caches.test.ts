/** The fleet in a browser: live rates of the visible rows, filters in the address bar, and what is judged of a cache. */
import fc from 'fast-check'
import t from 'tap'
import type { NewestStats } from '../../src/page/api/newest-stats.js'
import { judgeConfig, rankConfig, type Judged } from '../../src/page/views/caches/judge-config.js'
import {
  countWords,
  facets,
  filterAgents,
  splitName,
} from '../../src/page/views/caches/filter-agents.js'
import { readSorting, formatSorting, toRates } from '../../src/page/views/caches/sort-caches.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import type { Reference } from '../support/api-client.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

function holding(desired: number, effective: number, result = 'applied'): Judged {
  return {
    ...{ state: 1, engineState: 'running' },
    config: {
      desired: { revision: desired },
      lastAttempted: { revision: desired, result, error: null, at: null },
      effective: { revision: effective },
      difference: null,
    },
    drift: null,
  }
}

void t.test('what is wrong with a configuration now counts more than what was put right', (t) => {
  const at = '2026-01-01T00:00:00.000Z'
  const drift = { at, foreign: ['<b>theirs</b>'], action: '', healedAt: null }

  t.equal(judgeConfig(holding(2, 2)).word, 'In sync')
  t.equal(judgeConfig(holding(2, 1)).word, 'Applying')
  t.equal(judgeConfig({ ...holding(2, 1, 'failed'), drift }).word, 'Failed')
  t.match(judgeConfig({ ...holding(2, 2), drift }), { word: 'Drifted', why: '<b>theirs</b>' })
  t.equal(judgeConfig({ ...holding(2, 2), drift: { ...drift, healedAt: at } }).word, 'Healed')
  t.equal(judgeConfig({ ...holding(2, 2), state: 3 }).word, 'Not reported')
  t.equal(judgeConfig({ ...holding(2, 2), engineState: 'unreachable' }).word, 'Not reported')
  t.equal(judgeConfig({ ...holding(2, 1), state: 5 }).word, 'Waiting')
  t.ok(rankConfig(holding(2, 1, 'failed')) < rankConfig(holding(2, 2)))
  t.end()
})

void t.test('a word is of as many caches as its filter shows', (t) => {
  const agents = fc.array(
    fc.record({
      ...{ name: fc.string(), stateName: fc.constant('Running'), engineHost: fc.string() },
      engineVersion: fc.constantFrom('6.0.13', '9.0.0'),
      held: fc.constantFrom(holding(2, 2), holding(2, 1), holding(2, 1, 'failed')),
      tags: fc.uniqueArray(fc.constantFrom('eu', 'us', '<i>'), { maxLength: 3 }),
    }),
  )
  const none = { text: '', state: '', tag: '', config: '', version: '' }
  fc.assert(
    fc.property(agents, (all) => {
      const caches = all.map(({ tags, held, ...rest }) => ({
        ...{ ...rest, ...held },
        tags: tags.map((name) => ({ id: 1, name, static: true })),
      }))
      return (['tag', 'config', 'version'] as const).every((facet) =>
        countWords(caches, facets[facet]).every(
          ({ word, count }) => filterAgents(caches, { ...none, [facet]: word }).length === count,
        ),
      )
    }),
  )
  t.end()
})

void t.test('a long name is split before its last word, and nothing of it is lost', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '-', '.', '😀'), maxLength: 60 }),
      (name) => {
        const { start, end } = splitName(name)
        return start + end === name && (name === '' || start !== '')
      },
    ),
  )
  t.same(splitName('frankfurt-edge-cache-sim-00001'), {
    start: 'frankfurt-edge-cache-sim',
    end: '-00001',
  })
  t.equal(splitName('edge-sim-00001').end, '')
  t.end()
})

void t.test('the address says by what the list is sorted, or it is by name', (t) => {
  const titles = ['Name', 'Hit ratio']
  for (const title of titles)
    for (const isDescending of [true, false]) {
      const sorting = { title, isDescending }
      t.same(readSorting(formatSorting(sorting), titles), sorting)
    }
  t.equal(formatSorting({ title: 'Name', isDescending: false }), '')
  t.same(readSorting('-<b>', titles), { title: 'Name', isDescending: false })
  t.end()
})

void t.test('of a cache that looked nothing up no hit ratio is known', (t) => {
  const of = (...values: readonly (number | null)[]) =>
    toRates({ counters: [], agents: [{ id: 1, time: 0, values }] }).get(1)
  t.same(of(8, 3, 1), { requests: 8, hitRatio: 0.75 })
  t.same(of(0, 0, 0), { requests: 0, hitRatio: null })
  t.same(of(8, null, 1), { requests: 8, hitRatio: null })
  t.end()
})

void t.test('the fleet', async (t) => {
  const { base, api } = await startCoordinator(t, {
    words: [
      '--no-agent',
      '--name',
      'edge',
      '--simulate',
      '90',
      '--heartbeat',
      '30',
      '--stats-interval',
      '2',
    ],
  })
  const browser = await startBrowser(t)
  const hostile = '<img src=x onerror=alert(1)>'
  const tag = await api.makeTag(hostile)
  await eventually('the cache is known', async () => {
    const agent = await api.findAgent('edge-sim-00007')
    if (!agent) return false
    return (await api.call('PUT', `/agents/${agent.id}`, { tags: [{ id: tag }] })).status === 200
  })

  // Whichever comes last: what is at the end of the list stays there.
  await eventually('all caches are known', async () => (await api.listAgents()).length === 90)

  await t.test(
    'visible rows show their rates, and those that are scrolled to as well',
    async (t) => {
      const { page, wrongs } = await openPage(browser, base, { path: '/caches' })
      const asked: string[] = []
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (pathname.endsWith('/events')) asked.push(searchParams.get('live') ?? '')
      })
      await logInPage(page)
      const first = page.getByRole('row').filter({ hasText: 'edge-sim-00001' })
      await first.getByText(/^[\d.,]+\/s$/).waitFor()
      await first.getByText(/^[\d.]+%$/).waitFor()
      await first.getByText('In sync').waitFor()

      await page.getByRole('region', { name: 'Caches' }).press('End')

      const last = page.getByRole('row').filter({ hasText: 'edge-sim-00090' })
      await last.getByText(/^[\d.,]+\/s$/).waitFor()
      t.ok(
        asked.every((ids) => ids.split(',').length < 100),
        'only what is drawn is sampled',
      )

      await page.getByText('edge-sim-00090').click()
      await page.getByRole('heading', { name: 'edge-sim-00090' }).waitFor()
      await eventually('the stream is told what is looked at now', () =>
        Promise.resolve(/^\d+$/.test(asked.at(-1) ?? '')),
      )
      t.same(wrongs, [])
    },
  )

  await t.test('it is sorted by what all caches do, and the address keeps that', async (t) => {
    const { page, wrongs } = await openPage(browser, base, { path: '/caches' })
    const readings: NewestStats[] = []
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.endsWith('/stats'))
        void response.json().then((read: NewestStats) => readings.push(read))
    })
    await logInPage(page)
    const ids = new Map((await api.listAgents()).map(({ id, name }) => [name, id]))
    const names = page.getByRole('row').locator('td:first-child')
    const untilSorted = (isDescending: boolean) =>
      eventually('the first rows are the first of all', async () => {
        const rates = toRates(readings.at(-1) ?? { counters: [], agents: [] })
        const drawn = (await names.allTextContents()).slice(0, 10)
        const shown = drawn.map((name) => rates.get(ids.get(name) ?? 0)?.requests ?? null)
        const all = [...rates.values()].flatMap(({ requests }) => requests ?? [])
        all.sort((a, b) => (isDescending ? b - a : a - b))
        return all.length > 80 && shown.join() === all.slice(0, 10).join()
      })

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

  await t.test('the filters are in the address, and a hostile tag is only shown', async (t) => {
    const { page, wrongs } = await openPage(browser, base, { path: '/caches' })
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

  await t.test('who may only read is offered nothing else', async (t) => {
    const password = 'another correct horse'
    const make = async (path: string, body: object): Promise<number> => {
      const { status, text } = await api.call('POST', path, body)
      t.equal(status, 201, text)
      return (JSON.parse(text) as Reference).id // all that is made has an id
    }
    const organization = { id: await make('/organizations', { name: 'shop' }) }
    // The first one is the administrator.
    await make('/accounts', { name: 'boss', password, organization })
    const account = { id: await make('/accounts', { name: 'reader', password, organization }) }
    await make('/permissions', { account, organization, type: 'agent', read: true, write: false })
    const { page, wrongs } = await openPage(browser, base, { path: '/caches?q=00009' })
    await page.getByLabel('Organization').fill('shop')
    await logInPage(page, { user: 'reader', password })

    await page.getByText('edge-sim-00009').click()

    await page.getByRole('region', { name: 'Last panic' }).getByText('None.').waitFor()
    const offered = page.getByRole('navigation', { name: 'Parts of edge-sim-00009' })
    t.same(await offered.getByRole('link').allTextContents(), [
      ...['Status', 'VCLs', 'Backends', 'Parameters', 'Bans'],
    ])
    t.equal(await page.locator('a[href^="/graphs"]').count(), 0, 'without stats')
    for (const name of ['Tags', 'Delete'])
      t.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    await offered.getByRole('link', { name: 'Parameters' }).click()
    await page.getByRole('button', { name: 'About auto_restart' }).waitFor()
    t.same(wrongs, [])
  })
})

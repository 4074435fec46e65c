/** The start page: the traffic of the fleet, its problems, recent changes; and its decisions. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { findRollback } from '../../src/page/views/overview/find-rollback.js'
import { isAnyIll, listCounts } from '../../src/page/views/overview/list-counts.js'
import { chooseAction } from '../../src/page/views/overview/choose-action.js'
import { compareFigures, listMarks, readTrend } from '../../src/page/views/overview/read-trends.js'
import { splitAtName } from '../../src/page/views/overview/split-at-name.js'
import { heightOf, layTrend, trendHeight } from '../../src/page/charts/lay-trend.js'
import type { Figures, OverviewProblem } from '../../src/resources/overview.js'
import type { ConcernedObject } from '../../src/resources/problem.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { makeStateDir, startCoordinator, startDaemon, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

const unknown: Figures = { requests: null, hitRatio: null, errors: null, failedFetches: null }

void t.test('the worst states are first, and empty states are omitted', (t) => {
  t.same(
    listCounts({ Running: 8, Failing: 1, Down: 2, ReadOnly: 0, Locked: 0 }).map(({ name }) => name),
    ['Down', 'Failing', 'Running'],
  )
  t.equal(isAnyIll({ Running: 8, ReadOnly: 1 }), false)
  t.equal(isAnyIll({ Running: 8, Failing: 1 }), true)
  t.equal(isAnyIll(null), false)
  t.end()
})

void t.test('the button offers the permitted remedy, or a link to the object', (t) => {
  const everything = () => true
  const nothing = () => false
  const choose = (
    code: OverviewProblem['code'],
    object: ConcernedObject,
    rest: Partial<Pick<OverviewProblem, 'objects' | 'remedy'>> = {},
  ) => {
    const problem = { code, object, objects: [], remedy: '', ...rest }
    return [chooseAction(problem, everything), chooseAction(problem, nothing)]
  }
  const group = { type: 'vclgroup', id: 3, name: 'shop' }
  const cache = { type: 'agent', id: 5, name: 'edge-1' }
  const entry = { type: 'invalidation', id: 4, name: 'a ban' }
  const open = { kind: 'open', title: 'Open', href: '/groups/3' }
  const back = { objects: [cache], remedy: 'Deploy it again, or `vclgroups rollback shop`' }
  t.match(choose('load-failed', group, back), [{ kind: 'rollback' }, open])
  const forward = { objects: [cache], remedy: 'Deploy it again' }
  t.match(choose('load-failed', group, forward), [open, open], 'the console has no rollback')
  t.match(choose('load-failed', group), [open, open], 'no rollback of a deploy without effect')
  t.match(choose('behind-on-invalidations', entry, { remedy: '`invalidations retry 4`' }), [
    { kind: 'retry', path: '/invalidations/4/retry' },
    { href: '/invalidations/4' },
  ])
  t.match(choose('behind-on-invalidations', entry)[0], { href: '/invalidations/4' })
  t.match(choose('agent-down', cache)[0], { href: '/caches/5' })
  t.match(choose('agent-locked', cache), [{ title: 'Unlock…' }, { title: 'Open' }])
  t.equal(choose('drift', { ...cache, type: 'else' })[0], null)
  const paused = { type: 'rollout', id: 9, name: 'rollout 9 of shop' }
  const deploy = { ...open, href: '/groups/3/deploy' }
  t.match(choose('rollout-paused', paused, { objects: [group] }), [deploy, deploy])
  t.end()
})

void t.test('a rollback goes to the newest revision with other files', (t) => {
  const entry = (revision: number | null, version: number, action = 'deploy') => ({
    revision,
    action,
    account: 'anna',
    includes: [],
    mainVCL: { id: 1, name: 'a.vcl', version },
  })
  const history = [
    ...[entry(null, 3), entry(4, 2, 'undeploy'), entry(4, 2, 'reload')],
    ...[entry(3, 2), entry(2, 1), entry(1, 1)],
  ]
  t.equal(findRollback(history)?.revision, 2)
  t.equal(findRollback([entry(1, 1)]), null)
  t.equal(findRollback([]), null)
  t.end()
})

void t.test('a sentence is split around the name in it, and no part is lost', (t) => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, name) => {
      const parts = splitAtName(text, name)
      return parts === null
        ? name === '' || !text.includes(name)
        : parts.before + name + parts.after === text
    }),
  )
  t.same(splitAtName('deployed deploy', 'deploy'), { before: 'deployed ', after: '' })
  t.end()
})

void t.test('the change since an hour ago is described, and small changes are neutral', (t) => {
  const requests = { name: 'requests', isMore: 'neutral' } as const
  const failures = { name: 'failedFetches', isMore: 'bad' } as const
  const hits = { name: 'hitRatio', isMore: 'good' } as const
  const of = (name: keyof Figures, value: number): Figures => ({ ...unknown, [name]: value })
  t.match(compareFigures(requests, of('requests', 110), of('requests', 100)), {
    text: '+10 % since an hour ago',
    tone: 'neutral',
  })
  t.match(compareFigures(requests, of('requests', 101), of('requests', 100)), { tone: 'neutral' })
  t.match(compareFigures(hits, of('hitRatio', 0.8), of('hitRatio', 0.9)), {
    text: '−10.0 points since an hour ago',
    tone: 'bad',
  })
  t.match(compareFigures(failures, of('failedFetches', 3), of('failedFetches', 0)), {
    text: 'none an hour ago',
    tone: 'bad',
  })
  t.equal(compareFigures(requests, of('requests', 1), unknown), null)
  t.end()
})

void t.test('a gap in the values is a gap in the line', (t) => {
  const step = (minute: number) => ({
    ...unknown,
    requests: minute,
    time: new Date(minute * 60_000).toISOString(),
  })
  const points = readTrend([step(1), step(2), step(5), step(6)], 'requests')
  t.same(
    points.map(({ value }) => value),
    [1, 2, null, 5, 6],
  )
  const { lines, grounds } = layTrend(points, { from: 0, to: 360 }, 6)
  t.equal(lines.length, 2)
  t.equal(grounds.length, 2)
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: 0 }), fc.double({ noNaN: true, min: 0 }), (a, b) => {
      const height = heightOf(a, b)
      return height >= 0 && height <= trendHeight
    }),
  )
  t.end()
})

void t.test('deploys, bans and outages are marked; simultaneous outages are merged', (t) => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString()
  const common = { failed: false, account: 'anna', revision: null }
  const away = { ...common, kind: 'agent-down', account: null } as const
  const marks = listMarks(
    [
      { ...away, at: at(90), object: { type: 'agent', id: 2, name: 'edge-2' } },
      { ...away, at: at(80), object: { type: 'agent', id: 1, name: 'edge-1' } },
      { ...common, at: at(70), kind: 'ban', object: { type: 'invalidation', id: 4, name: '' } },
      { ...common, at: at(60), kind: 'deploy', object: { type: 'vclgroup', id: 3, name: 'shop' } },
    ],
    [],
    120,
  )
  t.match(marks, [
    { at: 80, until: undefined, tone: 'outage', text: 'Agent down: edge-1 (and 1 more)' },
    { at: 70, until: undefined, tone: 'removal', text: 'Ban 4 by anna' },
    { at: 60, until: undefined, tone: 'change', text: 'Deploy: shop by anna' },
  ])
  t.end()
})

void t.test('only a complete outage is shaded, from its begin', (t) => {
  const problem = (code: 'all-backends-sick' | 'backend-sick' | 'below-min', second: number) => ({
    code,
    severity: 3 as const,
    message: 'why',
    objects: [],
    remedy: '',
    since: new Date(second * 1000).toISOString(),
    object: { type: 'vclgroup' as const, id: 1, name: 'shop' },
  })
  t.same(listMarks([], [problem('backend-sick', 10)], 120), [], 'one sick backend is no outage')
  t.same(listMarks([], [problem('below-min', 90), problem('all-backends-sick', 60)], 120), [
    { at: 60, until: 120, tone: 'outage', text: 'shop: why (and 1 more)' },
  ])
  t.end()
})

void t.test('the start page', async (t) => {
  const { base, port, api } = await startCoordinator(t, {
    words: [
      ...['--no-agent', '--name', 'edge', '--tags', 'here', '--simulate', '20'],
      ...['--heartbeat', '1', '--stats-interval', '2'],
    ],
  })
  const browser = await startBrowser(t)
  await eventually('all caches are registered', async () => (await api.listAgents()).length === 20)
  const group = await api.makeGroup({
    name: 'shop',
    mainFile: await api.makeFile('main.vcl', 'vcl 4.1; backend default none;'),
    deployment: await api.makeDeployment('all', await api.findTag('here')),
  })
  t.equal((await api.act(group, 'deploy')).status, 200)
  const { page, wrongs } = await openPage(t, browser, base)
  await logInPage(page)

  await t.test('it shows states, traffic and recent changes', async () => {
    const states = page.getByRole('list', { name: 'States' })
    await states.getByRole('link', { name: '20 Running' }).waitFor()
    await states.getByRole('link', { name: '1 Active' }).waitFor()
    const traffic = page.getByRole('region', { name: 'Traffic of the last hour' })
    await traffic
      .getByText(/^[\d,.]+\/s$/)
      .first()
      .waitFor()
    await traffic.getByRole('img', { name: /^Hit ratio in the last hour, now [\d.]+%$/ }).waitFor()
    const changes = page.getByRole('region', { name: 'Recent changes' })
    await changes.getByText('root deployed shop (revision 1)').waitFor()
    await changes.getByRole('link', { name: 'shop' }).first().click()
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    await page.goBack()
  })

  await t.test('changes are shown live', async () => {
    await page.getByText('Live', { exact: true }).waitFor()
    await api.makeTag('just-made')
    const changes = page.getByRole('region', { name: 'Recent changes' })
    await changes.getByText('root created tag just-made').waitFor()
  })

  await t.test(
    'a killed cache is shown with the reason, and its button leads to the remedy',
    async (t) => {
      const well = page.getByText('All is well')
      const start = (): Daemon =>
        startDaemon(t, [
          ...['--engine', 'simulate', '--name', 'doomed', '--state-dir', stateDir],
          ...['--coordinator-url', `ws://127.0.0.1:${port}`, '--join-token-file', tokenFile],
        ])
      const stateDir = await makeStateDir(t)
      const tokenFile = join(stateDir, 'token')
      await writeFile(tokenFile, await api.makeJoinToken(), { mode: 0o600 })
      const agent = start()
      await eventually('it is Running', async () => (await api.findAgent('doomed'))?.state === 1)
      await well.waitFor()

      await agent.kill()

      const problems = page.getByRole('region', { name: 'Problems' })
      const problem = problems.getByRole('listitem').filter({ hasText: 'doomed' })
      await problem.getByText('The agent does not answer').waitFor()
      await problem.getByText('Error', { exact: true }).waitFor()
      await page.getByRole('list', { name: 'States' }).getByText('1 Down').waitFor()
      await look(t, 'overview-problem', [390, 1280])
      await problem.getByRole('link', { name: 'Open', exact: true }).click()
      await page.getByRole('heading', { name: 'doomed' }).waitFor()
      start()
      await page.goBack()
      await well.waitFor()
    },
  )

  await t.test('every view is accessible: light and dark, wide and narrow', async (t) => {
    await look(t, 'overview')
    t.same(wrongs, [])
  })

  async function look(t: Test, name: string, widths = [390, 1920, 1280]): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of widths) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 1000 })
        await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
        t.same(await findBarriers(page), [], `${colorScheme} ${width}`)
        const wide = 'document.documentElement.scrollWidth > innerWidth'
        t.equal(await page.evaluate(wide), false, 'nothing overflows')
      }
  }
})

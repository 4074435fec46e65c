/** Bans and purges in the page, on a real cache: written, validated while typing, followed, cancelled and deleted. */
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
import { makeStateDir, startCoordinator, startDaemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

const hostile = '<img src=x onerror=alert(1)>'
/** The name of a cache that is Down. */
const away = 'far'

interface Harness extends OpenPage {
  readonly api: ApiClient
}

void t.test('invalidations in the page', async (t) => {
  const harness = await start(t)
  const { page, wrongs } = harness

  await t.test('a ban is validated while typing, and reaches its cache', (t) => ban(t, harness))
  await t.test('a purge of a URL reaches the cache that holds it', () => purge(harness))
  await t.test('a ban of everything needs a confirmation', () => banAll(harness))
  await t.test('a ban that waits for a Down cache is shown as such, cancelled and deleted', () =>
    banAway(harness),
  )
  await t.test('all objects below a path are banned', (t) => clearSite(t, harness))
  await t.test('the list follows the filters of the address', (t) => filter(t, harness))
  await t.test('every view is accessible: light and dark, wide and narrow', (t) => look(t, harness))

  t.equal(await page.locator('img').count(), 0)
  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const { base, api } = await startCoordinator(t, {
    words: ['--name', 'edge', '--tags', 'here', '--heartbeat', '1'],
  })
  const far = startDaemon(
    t,
    [
      ...['--coordinator-url', base.replace('http', 'ws'), '--name', away],
      ...['--state-dir', await makeStateDir(t), '--engine', 'simulate'],
    ],
    { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken() },
  )
  const browser = await startBrowser(t)
  const stateOf = async (name: string) => (await api.findAgent(name))?.stateName
  for (const name of ['edge', away])
    await eventually(`${name} runs`, async () => (await stateOf(name)) === 'Running')
  await far.stop()
  await eventually('one agent is Down', async () => (await stateOf(away)) === 'Down')
  await makeShop(api)
  const opened = await openPage(t, browser, base, { path: '/invalidations' })
  await logInPage(opened.page)
  return { ...opened, api }
}

/** A group with a domain, on the real cache. */
async function makeShop(api: ApiClient): Promise<void> {
  const read = ({ text }: { readonly text: string }) => JSON.parse(text) as { id: number } // of the API
  const domain = read(await api.call('POST', '/domains', { fqdn: 'www.example.com' }))
  const mainVCL = { id: await api.makeFile('shop.vcl', answering('shop')) }
  const deployment = await api.makeDeployment('here', await api.findTag('here'))
  const { id } = read(
    await api.call('POST', '/vclgroups', {
      name: 'shop',
      mainVCL,
      domains: [{ id: domain.id }],
      deployments: [{ id: deployment }],
    }),
  )
  await eventually('the deploy succeeds', async () => (await api.act(id, 'deploy')).status === 200)
}

async function ban(t: Test, { page }: Harness): Promise<void> {
  await page.getByText('No invalidations yet').waitFor()
  await page.getByRole('link', { name: 'Clear cache' }).click()
  await page.getByRole('button', { name: 'Expression', exact: true }).click()
  await chooseTarget({ page }, 'Single caches', 'edge')
  const field = page.getByLabel('Expressions')

  await field.fill('obj.status = 404')
  await page.getByText(/position 12: "=" is not an operator/).waitFor()
  t.equal(await page.locator('mark').textContent(), '=', 'the error is marked')
  await keepScreenshot(page, 'invalidation-wrong')
  t.same(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Ban', exact: true }).last().click()
  const selected = 'getSelection().toString()'
  await eventually('the error is selected', async () => {
    return (await page.evaluate(selected)) === '='
  })

  await field.fill(`obj.http.x-text ~ "${hostile}"`)
  await page.getByText('1 cache now.').waitFor()
  await page.getByText(/no VCL of the targets mentions the header x-text/).waitFor()
  await keepScreenshot(page, 'invalidation-new')
  t.same(await findBarriers(page), [])

  await page.getByRole('button', { name: 'Ban', exact: true }).last().click()
  await page.getByText('1 of 1 done').waitFor()
  await page.getByRole('heading', { name: /Ban \d+ *Completed/ }).waitFor()
  await page.getByText(hostile).first().waitFor()
}

async function purge({ page }: Harness): Promise<void> {
  await page.getByRole('link', { name: 'Invalidations' }).first().click()
  await page.getByRole('link', { name: 'Clear cache' }).click()
  await page.getByLabel('URLs').fill('http://www.example.com/img/logo.png')
  await page.getByLabel('shop', { exact: true }).check()
  await page.getByText('1 cache now.').waitFor()

  await page.getByRole('button', { name: 'Clear cache', exact: true }).click()

  await page.getByText('1 of 1 done').waitFor()
  const row = page.getByRole('row').filter({ hasText: 'edge' })
  await row.getByText('done', { exact: true }).waitFor()
}

async function clearSite(t: Test, { page, api }: Harness): Promise<void> {
  await page.goto('/invalidations/new')
  await page.getByRole('button', { name: 'Path', exact: true }).click()
  await page.getByLabel('Paths').fill('not an address')
  await page.getByText('“not an address” is not an address').waitFor()
  await page.getByLabel('Paths').fill('www.example.com/img/')
  await page.getByLabel('shop', { exact: true }).check()
  await page.getByText('1 cache now.').waitFor()
  await page.getByText('As expressions').click()
  await keepScreenshot(page, 'clear-cache')
  t.same(await findBarriers(page), [])

  await page.getByRole('button', { name: 'Clear cache', exact: true }).click()

  await page.getByText('1 of 1 done').waitFor()
  const id = (await api.findAgent('edge'))?.id ?? 0
  t.match((await api.call('GET', `/agents/${id}/bans`)).text, /www\[\.\]example.*\^\/img\//)
  await page.getByRole('button', { name: 'Delete' }).click()
  const name = /Ban \d+/.exec((await page.getByRole('heading', { level: 1 }).textContent()) ?? '')
  await page.getByLabel(`Type “${name?.[0] ?? ''}” to confirm`).fill(name?.[0] ?? '')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText(`${name?.[0] ?? ''} deleted.`).waitFor()
}

async function banAll({ page }: Harness): Promise<void> {
  await page.goto('/invalidations/new?type=expression')
  await page.getByLabel('Expressions').fill('obj.status == 404')
  await page.getByLabel('Target').selectOption('All caches')
  await page.getByText('1 cache now, 1 when it reconnects.').waitFor()
  await page.getByRole('button', { name: 'Ban', exact: true }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Ban on all caches?' })
  await dialog.getByLabel('Type “everything” to confirm').fill('everything')
  await dialog.getByRole('button', { name: 'Ban' }).click()

  await page.getByText('1 of 2 done').waitFor()
  await page.getByRole('row').filter({ hasText: away }).getByText('pending').waitFor()
}

async function banAway({ page }: Harness): Promise<void> {
  await page.goto('/invalidations/new?type=expression')
  await page.getByLabel('Expressions').fill('obj.status == 500')
  await chooseTarget({ page }, 'Single caches', away)
  await page.getByRole('button', { name: 'Ban', exact: true }).last().click()
  const title = page.getByRole('heading', { level: 1 })
  await title.getByText('Waiting').waitFor()

  await page.getByRole('button', { name: 'Cancel' }).click()
  await title.getByText('Cancelled').waitFor()
  await page.getByRole('button', { name: 'Retry' }).click()
  await title.getByText('Waiting').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await title.getByText('Cancelled').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  const name = /Ban \d+/.exec((await title.textContent()) ?? '')?.[0] ?? ''
  await page.getByLabel(`Type “${name}” to confirm`).fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()

  await page.getByText(`${name} deleted.`).waitFor()
  await page.getByRole('heading', { name: 'Invalidations' }).waitFor()
}

async function filter(t: Test, { page }: Harness): Promise<void> {
  const rows = page.getByRole('row').filter({ has: page.getByRole('link') })
  await eventually('three remain', async () => (await rows.count()) === 3)
  await page.getByRole('button', { name: 'Purges', exact: true }).click()
  await eventually('only the purge remains', async () => (await rows.count()) === 1)
  t.equal(new URL(page.url()).searchParams.get('type'), 'purge')
  await page.goto('/invalidations?state=Waiting')
  await rows.filter({ hasText: 'obj.status == 404' }).waitFor()
  t.equal(await rows.count(), 1)
}

async function look(t: Test, { page }: Harness): Promise<void> {
  const waiting = page.getByRole('link', { name: 'obj.status == 404' })
  for (const [path, name, seen] of [
    ['/invalidations', 'invalidations', waiting],
    ['/invalidations/3', 'invalidation', page.getByText('1 of 2 done')],
  ] as const) {
    await page.goto(path)
    await seen.waitFor()
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
        t.same(await findBarriers(page), [], `${name} ${colorScheme} ${width}`)
      }
  }
}

async function chooseTarget(
  { page }: Pick<Harness, 'page'>,
  kind: string,
  name: string,
): Promise<void> {
  await page.getByLabel('Target').selectOption(kind)
  await page.getByLabel(name, { exact: true }).check()
}

/** The frame of every view, in a browser on a running coordinator: the session, the keys, the themes, the policy. */
import t from 'tap'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  menuButton,
  openPage,
  otherHost,
  startBrowser,
} from '../support/browser.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startLinkProxy } from '../support/link-proxy.js'

const caches = 100

void t.test('the page', async (t) => {
  const { base, port, api } = await startCoordinator(t, {
    words: ['--no-agent', '--name', 'edge', '--simulate', String(caches), '--tags', 'here'],
  })
  const browser = await startBrowser(t)

  await t.test('a wrong password is refused with a trace id, a right one works', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base)
    await page.getByLabel('Name', { exact: true }).fill('root')
    await page.getByLabel('Password').fill('not this one')
    await page.keyboard.press('Enter')
    const alert = page.getByRole('alert')
    await alert.getByText(/Trace [\w-]{8,}/).waitFor()
    await alert.getByRole('button', { name: 'Copy the trace id' }).click()
    await page.getByRole('status').getByText('Copied.').waitFor()

    await logInPage(page)

    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.equal(new URL(page.url()).pathname, '/overview')
    t.same(wrongs, [])
  })

  await t.test('Ctrl+K finds every object and runs commands, by keys alone', async (t) => {
    const source = 'vcl 4.1; backend default none;'
    const mainFile = await api.makeFile('Shop.vcl', source)
    const tag = await eventually('an agent reports its tag', () => api.findTag('here'))
    const deployment = await api.makeDeployment('here', tag)
    const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
    const { page, wrongs } = await openPage(t, browser, base, { path: '/tags' })
    await logInPage(page)
    const dialog = page.getByRole('dialog', { name: 'Search and commands' })
    const option = (name: string) => dialog.getByRole('option', { name, exact: true })
    const search = async (words: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await dialog.getByRole('combobox').fill(words)
    }

    await search('shop')
    await option('shop Group').waitFor()
    await option('Shop.vcl File').waitFor()
    await option('Deploy shop Action').waitFor()
    for (const [theme, width] of [
      ['dark', 390],
      ['light', 1280],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await page.setViewportSize({ width, height: 800 })
      await keepScreenshot(page, `commands-${theme}-${width}`)
      t.same(await findBarriers(page), [])
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'shop' }).waitFor()

    await search('deploy shop')
    await option('Deploy shop Action').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/groups/${group}/deploy`)
    await page.getByRole('link', { name: 'Tags', exact: true }).focus()
    await search('sim-00042')
    await option('edge-sim-00042 Cache').waitFor()
    await page.keyboard.press('ArrowDown')
    await option('Graphs of edge-sim-00042 Action')
      .and(page.locator('[aria-selected=true]'))
      .waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'edge-sim-00042' }).waitFor()
    await page.locator('main:focus').waitFor()
    await search('clear cache')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Clear cache' }).waitFor()
    await search('no such thing')
    await dialog.getByText('Nothing that you may see matches').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const opener = page.getByRole('button', { name: 'Search and commands (Ctrl+K)' })
    await opener.click()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await opener.and(page.locator(':focus')).waitFor()
    t.same(wrongs, [])
  })

  await t.test('a reload keeps the session and the state in the address', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches?q=SIM-00042' })
    await logInPage(page)
    const rows = page.getByRole('row').filter({ hasText: 'edge-sim-' })
    await rows.first().waitFor()
    t.match(await rows.allTextContents(), [/^edge-sim-00042/])

    await page.reload()

    await rows.first().waitFor()
    t.equal(await rows.count(), 1)
    t.equal(await page.getByRole('searchbox').inputValue(), 'SIM-00042')
    t.same(wrongs, [])

    const away = { traceId: 'the-trace-of-it', errorKey: 'store', errorMsg: 'the store is away' }
    await page.route('**/auth/refresh', (route) => route.fulfill({ status: 503, json: away }))
    await page.reload()
    await page.getByRole('alert').getByText('the store is away').waitFor()
    await keepScreenshot(page, 'starting')
    t.same(await findBarriers(page), [])
    await page.unroute('**/auth/refresh')
    await page.getByRole('button', { name: 'Try again' }).click()
    await rows.first().waitFor()
  })

  await t.test('an outage of the coordinator is shown, and every view recovers', async (t) => {
    const proxy = await startLinkProxy(t, port)
    const address = proxy.url.replace('ws:', 'http:')
    const { page, wrongs } = await openPage(t, browser, address, { path: '/caches' })
    const away = page.getByRole('status').getByText("Can't reach the coordinator.")
    await logInPage(page)
    await page.getByText('edge-sim-00003').waitFor()
    // The script of the view is loaded, so that only its requests fail.
    await page.getByRole('link', { name: 'Tags', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'here' }).waitFor()
    await page.getByRole('link', { name: 'Caches', exact: true }).click()
    await page.getByText('edge-sim-00003').waitFor()

    proxy.setFault('refuse')

    await away.waitFor()
    await page.getByText(/^Last update:/).waitFor()
    t.same(await page.getByRole('alert').allTextContents(), [], 'the data remains, without alerts')
    await page.getByText('edge-sim-00003').waitFor()
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        await keepScreenshot(page, `away-${colorScheme}-${width}`)
        t.same(await findBarriers(page), [], `${colorScheme} ${width}`)
      }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('link', { name: 'Tags', exact: true }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    const made = await api.makeTag('made-meanwhile')

    proxy.setFault('none')

    await page.getByRole('row').filter({ hasText: 'made-meanwhile' }).waitFor()
    await away.waitFor({ state: 'detached' })
    await page.getByText('Live', { exact: true }).waitFor()
    t.equal(await page.getByRole('alert').count(), 0)
    t.equal((await api.call('DELETE', `/tags/${made}`)).status, 204)

    proxy.setFault('refuse')
    await away.waitFor()
    await page.getByRole('link', { name: 'Domains', exact: true }).click()
    await page.getByText('This part of the page could not be loaded').waitFor()
    proxy.setFault('none')
    await page.getByText('No domains yet').waitFor()
    t.same(wrongs, [])
  })

  for (const [where, address] of [
    ['on this machine', base],
    ['without HTTPS', `http://${otherHost}:${port}`],
  ] as const)
    await t.test(`two tabs at once share the session ${where}, and its end`, async (t) => {
      const one = await openPage(t, browser, address, { path: '/caches' })
      await logInPage(one.page)
      const two = await one.openTab('/caches')
      await two.page.getByRole('table').waitFor()
      await Promise.all([one.page.reload(), two.page.reload()])
      for (const { page } of [one, two]) await page.getByRole('table').waitFor()

      await one.page.getByRole('button', { name: 'Log out' }).click()

      for (const { page, wrongs } of [one, two]) {
        await page.getByLabel('Password').waitFor()
        t.same(wrongs, [])
      }
      await two.page.reload()
      await two.page.getByLabel('Password').waitFor()
    })

  await t.test('changes are shown live, and a hostile name is shown as text', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, {
      path: '/caches?q=edge-sim-00007',
      width: 1920, // tags are shown if there is room
    })
    await logInPage(page)
    await page.getByText('Live', { exact: true }).waitFor()
    const name = '<img src=x onerror=alert(1)>'
    const agent = await api.findAgent('edge-sim-00007')

    const tag = await api.makeTag(name)
    await api.call('PUT', `/agents/${agent?.id ?? 0}`, { tags: [{ id: tag }] })

    await page.getByRole('table').getByText(name).waitFor()
    t.equal(await page.locator('img').count(), 0)
    t.same(wrongs, [])
  })

  await t.test('keys open the search and the help, and return to the previous place', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
    await logInPage(page)
    const search = page.getByRole('searchbox', { name: 'Search caches' })
    await search.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('no such cache?')
    await page.getByText('No cache matches these filters').waitFor()
    t.equal(new URL(page.url()).searchParams.get('q'), 'no such cache?')
    await page.keyboard.press('Escape')

    await page.keyboard.press('?')

    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('No cache matches these filters').waitFor()
    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter')
    t.equal(await page.evaluate('document.activeElement.id'), 'main')
    t.same(wrongs, [])
  })

  await t.test('an unknown address says so', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches/edge-1' })
    await logInPage(page)
    await page.getByRole('alert').getByText('edge-1 was not found').waitFor()
    await page.goto('/nothing')
    await page.getByText('There is nothing at this address').waitFor()
    t.same(wrongs, [])
  })

  await t.test('the theme follows the system until the user chooses one', async (t) => {
    const { page } = await openPage(t, browser, base, { theme: 'dark' })
    await logInPage(page)
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const dark = await ground()

    await page.getByRole('button', { name: /Theme: system/ }).click()
    const light = await ground()
    await page.reload()

    await page.getByRole('button', { name: /Theme: light/ }).waitFor()
    t.not(light, dark)
    t.equal(await ground(), light)
  })

  await t.test('every view is accessible: light and dark, wide and narrow', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
    const look = async (name: string, widths: readonly number[] = [1280, 390]): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of widths) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
          t.same(await findBarriers(page), [], `${name} ${colorScheme} ${width}`)
        }
    }
    await page.getByLabel('Password').waitFor()
    await look('login')
    await page.setViewportSize({ width: 1280, height: 800 })
    await logInPage(page)
    await page.getByRole('table').waitFor()
    const drawn = await page.getByRole('row').count()
    t.ok(drawn < caches / 2, `${drawn} rows are drawn, those visible`)

    await look('caches')

    const wide = 'document.documentElement.scrollWidth > innerWidth'
    t.equal(await page.evaluate(wide), false, 'nothing overflows')
    await menuButton(page).click()
    await page.getByRole('link', { name: 'Caches', exact: true }).waitFor()
    await look('menu', [390])
    t.same(wrongs, [])
  })
})

/** One real cache in a browser: its contents, and what a user changes on it. */
import t from 'tap'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { makeStateDir, runDaemon, startAgent, startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'

const hostile = '<img src=x onerror=alert(1)>'
const source = 'vcl 4.1; backend origin { .host = "127.0.0.1"; .port = "1"; }'

void t.test('one cache', async (t) => {
  const [{ base, port, api }, cache] = await Promise.all([
    startCoordinator(t, { words: ['--no-agent', '--heartbeat', '30'] }),
    startVarnishd(t),
  ])
  const stateDir = await makeStateDir(t)
  startAgent(t, cache, {
    coordinatorUrl: `ws://127.0.0.1:${port}`,
    name: 'edge-1',
    stateDir,
    tags: ['here'],
    joinToken: await api.makeJoinToken(),
  })
  await eventually('the agent is Running', async () => (await api.findAgent('edge-1'))?.state === 1)
  // A good state for the rollback.
  await eventually('it is idle', async () => /active .*cf-idle/.test(await cache.adm('vcl.list')))
  const id = (await api.findAgent('edge-1'))?.id ?? 0
  const group = await api.makeGroup({
    name: hostile,
    mainFile: await api.makeFile('main.vcl', source),
    deployment: await api.makeDeployment('all', await api.findTag('here')),
  })
  t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
  const { page, wrongs } = await openPage(t, await startBrowser(t), base, { path: `/caches/${id}` })
  await logInPage(page)
  const isServing = new RegExp(`active .*cf-${group}-`)
  const sections = page.getByRole('navigation', { name: 'Parts of edge-1' })
  const show = (title: string) => sections.getByRole('link', { name: title, exact: true }).click()

  await t.test('its status shows the desired and the effective configuration', async (t) => {
    await page.getByRole('heading', { name: 'edge-1' }).waitFor()
    const config = page.getByRole('region', { name: 'Configuration' })
    const { desired, effective } = (await api.findAgent('edge-1'))?.config ?? {}
    t.equal(effective?.revision, desired?.revision)
    await config
      .getByText(`revision ${desired?.revision ?? 0}`)
      .first()
      .waitFor()
    const placed = page.getByRole('region', { name: 'Groups on this cache' })
    await placed.getByRole('link', { name: hostile }).waitFor()
    await page.getByText(/^[\d.]+ (B|KiB|MiB)$/).waitFor()
    await page.getByRole('region', { name: 'Last panic' }).getByText('None.').waitFor()
    t.equal(await page.locator(`a[href="/caches/${id}/graphs"]`).count(), 1)
    t.equal(await page.locator('img').count(), 0)
  })

  await t.test('a parameter is found, changed on the cache, and restored', async () => {
    await show('Parameters')
    await page.getByRole('searchbox', { name: 'Find a parameter' }).fill('default_ttl')
    await page.getByRole('button', { name: 'Change default_ttl' }).click()
    const dialog = page.getByRole('dialog', { name: 'default_ttl' })
    await dialog.getByRole('textbox').fill('never')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/never/).waitFor()
    await dialog.getByRole('textbox').fill('61')
    await dialog.getByRole('button', { name: 'Save' }).click()

    await page.getByRole('button', { name: /^Changed/ }).click()
    await page.getByRole('cell', { name: /61\.000/ }).waitFor()
    await untilTtl('61.000')
    await page.getByRole('button', { name: 'Undo' }).click()

    await page.getByText('No parameter fits').waitFor()
    await untilTtl('120.000')
  })

  await t.test('a parameter is reset to its default, and the reset is undone', async (t) => {
    const { status } = await api.call('PUT', `/agents/${id}/params/default_ttl`, { value: '62' })
    t.equal(status, 200)
    const cell = page.getByRole('cell', { name: /62\.000/ })
    await cell.waitFor()

    await page.getByRole('button', { name: 'Change default_ttl' }).click()
    await page.getByRole('button', { name: 'Reset to the default' }).click()

    await page.getByText('No parameter fits').waitFor()
    await untilTtl('120.000')
    await page.getByRole('button', { name: 'Undo' }).click()
    await cell.waitFor()
    await untilTtl('62.000')
  })

  await t.test('a tag is assigned in addition to the cache’s own tags, and removed', async (t) => {
    await api.makeTag(hostile)
    await show('Status')
    await page.getByRole('button', { name: 'Tags', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Tags of edge-1' })
    await dialog.getByText('Sent by the cache: here').waitFor()
    await dialog.getByRole('checkbox', { name: hostile }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()

    const facts = page.getByRole('region', { name: 'Cache', exact: true })
    await facts.getByText(hostile).waitFor()
    t.same(await listTags(), [hostile, 'here'])
    await page.getByRole('button', { name: 'Undo' }).click()

    await facts.getByText(hostile).waitFor({ state: 'detached' })
    t.same(await listTags(), ['here'])
  })

  await t.test(
    'a backend that becomes sick is shown at once, also in the list of all backends',
    async (t) => {
      await show('Backends')
      const row = page.getByRole('row').filter({ hasText: 'origin' }).first()
      await row.getByText(`${hostile}, revision 1`).waitFor()
      await row.getByText('Healthy', { exact: true }).waitFor()

      await cache.adm('backend.set_health', 'origin', 'sick')

      await row.getByText('Sick', { exact: true }).waitFor()
      await page.getByRole('navigation', { name: 'Main' }).getByText('Backends').click()
      const all = page.getByRole('region', { name: 'Backends' })
      const listed = all.getByRole('row').filter({ hasText: hostile })
      await listed.getByText('Sick', { exact: true }).waitFor()
      t.equal(
        await listed.getByRole('link', { name: 'origin' }).getAttribute('href'),
        `/groups/${group}`,
      )
      await keepScreenshot(page, 'backends')
      t.same(await findBarriers(page), [])
      await cache.adm('backend.set_health', 'origin', 'auto')
      await listed.getByText('Healthy', { exact: true }).waitFor()
      await page.goto(`${base}/caches/${id}`)
    },
  )

  await t.test('a backend is set sick on the cache, and restored', async () => {
    await show('Backends')
    const row = page.getByRole('row').filter({ hasText: 'origin' }).first()
    await row.getByText('Healthy', { exact: true }).waitFor()

    await row.getByRole('combobox').selectOption('sick')

    await row.getByText('Sick', { exact: true }).waitFor()
    await eventually('the cache agrees', async () => /origin\s+sick/.test(await listBackends()))
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.getByText('Healthy', { exact: true }).waitFor()
  })

  await t.test('its VCLs, bans and counters are those of the cache', async () => {
    await show('VCLs')
    await page
      .getByRole('row')
      .filter({ hasText: `cf-${group}-` })
      .first()
      .waitFor()
    await page.getByRole('cell', { name: `${hostile}, revision 1` }).waitFor()
    await show('Bans')
    await page.getByRole('table', { name: 'Bans' }).waitFor()
    await show('Counters')
    await page.getByRole('searchbox', { name: 'Find a counter' }).fill('MAIN.threads')
    await page.getByRole('row').filter({ hasText: 'MAIN.threads_created' }).waitFor()
  })

  await t.test('the answer to a command is shown verbatim; others are refused', async () => {
    await show('Command')
    const field = page.getByRole('textbox', { name: 'Command' })
    await field.fill('status')
    await field.press('Enter')
    await page.getByText('Child in state running').waitFor()
    await field.fill('vcl.discard boot')
    await field.press('Enter')
    await page.getByText(/"vcl\.discard" is not allowed/).waitFor()
  })

  await t.test('every part is accessible: light and dark, wide and narrow', async (t) => {
    for (const [title, colorScheme, width, region] of [
      ['Status', 'light', 1280, 'Groups on this cache'],
      ['Parameters', 'dark', 390, 'Parameters'],
      ['Backends', 'light', 390, 'Backends'],
      ['Command', 'dark', 1280, 'Command'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await show(title)
      await page.getByRole('region', { name: region, exact: true }).waitFor()
      if (title === 'Backends') await page.getByText(`${hostile}, revision 1`).first().waitFor()
      await keepScreenshot(page, `cache-${title}-${colorScheme}-${width}`)
      t.same(await findBarriers(page), [], `${title} ${colorScheme} ${width}`)
    }
  })

  await t.test('the message of a panic of the child is shown', async (t) => {
    await cache.adm('debug.panic.worker').catch(() => undefined) // its answer is lost
    const reported = await eventually('the agent reports the panic', async () => {
      const { text } = await api.call('GET', `/agents/${id}/panic`)
      return /You asked for it/.test(text) && (await api.findAgent('edge-1'))?.state === 1
    })
    t.ok(reported)
    await show('Status')
    await page.reload()
    await page
      .getByRole('region', { name: 'Last panic' })
      .getByText(/You asked for it/)
      .waitFor()
  })

  await t.test('it is drained for a reason, and undrained', async (t) => {
    await show('Status')
    await page.getByRole('button', { name: 'Drain…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Drain edge-1' })
    await dialog.getByLabel('Reason').fill('kernel update')
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click()
    await page
      .getByRole('region', { name: 'Problems' })
      .getByText(/^The cache is drained, its groups move to others: kernel update/)
      .waitFor()
    t.match(await cache.adm('vcl.list'), isServing, 'no other cache fits its groups')
    await keepScreenshot(page, 'cache-drained')
    await page.getByRole('button', { name: 'Undrain' }).click()
    await page.getByRole('button', { name: 'Drain…' }).waitFor()
  })

  await t.test('a cache that is rolled back on its host is locked until its unlock', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await show('Status')
    t.match(await runDaemon(['rollback', '--state-dir', stateDir]), { code: 0 })
    await page
      .getByRole('region', { name: 'Problems' })
      .getByText(/^The agent takes no orders: was rolled back on its host to good state/)
      .waitFor()
    t.notMatch(await cache.adm('vcl.list'), isServing)
    await page.getByText('Waiting', { exact: true }).waitFor()
    await keepScreenshot(page, 'cache-locked')

    await page.getByRole('button', { name: 'Unlock' }).click()
    const dialog = page.getByRole('dialog', { name: 'Unlock edge-1?' })
    t.ok(await dialog.getByRole('button', { name: 'Unlock' }).isDisabled())
    await dialog.getByRole('textbox').fill('edge-1')
    await dialog.getByRole('button', { name: 'Unlock' }).click()

    await page.getByRole('button', { name: 'Unlock' }).waitFor({ state: 'detached' })
    await page.getByText('In sync').waitFor()
    await eventually('the cache serves its configuration', async () =>
      isServing.test(await cache.adm('vcl.list')),
    )
  })

  await t.test('deletion needs the name, and a confirmation as groups are on it', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete edge-1?' })
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
    await dialog.getByRole('textbox').fill('edge-1')
    await dialog.getByRole('button', { name: 'Delete' }).click()

    await page.getByRole('button', { name: 'Delete anyway' }).click()

    await page.getByText('No caches yet').waitFor()
    t.equal(new URL(page.url()).pathname, '/caches')
    t.same(wrongs, [])
  })

  function untilTtl(seconds: string): Promise<unknown> {
    return eventually(`the cache keeps objects for ${seconds} s`, async () =>
      (await cache.adm('param.show', 'default_ttl')).includes(seconds),
    )
  }
  async function listTags(): Promise<readonly string[]> {
    return (await api.findAgent('edge-1'))?.tags.map(({ name }) => name).toSorted() ?? []
  }
  function listBackends(): Promise<string> {
    return cache.adm('backend.list', '*.*')
  }
})

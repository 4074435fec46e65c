/** One cache in a browser, a real one: what it holds, and what a person changes on it. */
import t from 'tap'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { makeStateDir, startAgent, startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'

const hostile = '<img src=x onerror=alert(1)>'
const source = 'vcl 4.1; backend origin { .host = "127.0.0.1"; .port = "1"; }'

void t.test('one cache', async (t) => {
  const [{ base, port, api }, cache] = await Promise.all([
    startCoordinator(t, { words: ['--no-agent', '--heartbeat', '30'] }),
    startVarnishd(t),
  ])
  startAgent(t, cache, {
    coordinatorUrl: `ws://127.0.0.1:${port}`,
    ...{ name: 'edge-1', stateDir: await makeStateDir(t), tags: ['here'] },
    joinToken: await api.makeJoinToken(),
  })
  await eventually('the cache runs', async () => (await api.findAgent('edge-1'))?.state === 1)
  const id = (await api.findAgent('edge-1'))?.id ?? 0
  const group = await api.makeGroup({
    name: hostile,
    mainFile: await api.makeFile('main.vcl', source),
    deployment: await api.makeDeployment('all', await api.findTag('here')),
  })
  t.equal((await api.act(group, 'deploy', '?wait=300s')).status, 200)
  const { page, wrongs } = await openPage(await startBrowser(t), base, { path: `/caches/${id}` })
  await logInPage(page)
  const show = (title: string) => page.getByRole('link', { name: title, exact: true }).click()

  await t.test('its status tells what it should hold, what it holds and does', async (t) => {
    await page.getByRole('heading', { name: 'edge-1' }).waitFor()
    const config = page.getByRole('region', { name: 'Configuration' })
    const { desired, effective } = (await api.findAgent('edge-1'))?.config ?? {}
    t.equal(effective?.revision, desired?.revision)
    await config
      .getByText(`revision ${desired?.revision ?? 0}`)
      .first()
      .waitFor()
    const placed = page.getByRole('region', { name: 'Placed here' })
    await placed.getByRole('link', { name: hostile }).waitFor()
    await page.getByText(/^[\d.]+ (B|KiB|MiB)$/).waitFor()
    await page.getByRole('region', { name: 'Last panic' }).getByText('None.').waitFor()
    t.equal(await page.locator('img').count(), 0)
  })

  await t.test('a parameter is found, changed on the cache, and taken back', async () => {
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
    await eventually('the cache has it', async () => (await readTtl()).includes('61.000'))

    await page.getByRole('button', { name: 'Undo' }).click()

    await page.getByText('No parameter fits').waitFor()
    await eventually('the cache has its default', async () => (await readTtl()).includes('120.000'))
  })

  await t.test('a backend is set sick on the cache, and back', async () => {
    await show('Backends')
    const row = page.getByRole('row').filter({ hasText: 'origin' }).first()
    await row.getByText('Healthy', { exact: true }).waitFor()

    await row.getByRole('combobox').selectOption('sick')

    await row.getByText('Sick', { exact: true }).waitFor()
    await eventually('the cache thinks so', async () => /origin\s+sick/.test(await listBackends()))
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.getByText('Healthy', { exact: true }).waitFor()
  })

  await t.test('its VCLs, bans and counters are those of the cache', async () => {
    await show('VCLs')
    await page
      .getByText(`cf-l-${group}`)
      .or(page.getByText(`cf-${group}-`))
      .first()
      .waitFor()
    await show('Bans')
    await page.getByRole('table', { name: 'Bans' }).waitFor()
    await show('Counters')
    await page.getByRole('searchbox', { name: 'Find a counter' }).fill('MAIN.threads')
    await page.getByRole('row').filter({ hasText: 'MAIN.threads_created' }).waitFor()
  })

  await t.test('a command is answered in the words of the cache, or refused', async () => {
    await show('Command')
    const field = page.getByRole('textbox', { name: 'Command' })
    await field.fill('status')
    await field.press('Enter')
    await page.getByText('Child in state running').waitFor()
    await field.fill('vcl.discard boot')
    await field.press('Enter')
    await page.getByText(/"vcl\.discard" is not allowed/).waitFor()
  })

  await t.test('everybody can use it: light and dark, wide and narrow', async (t) => {
    for (const [title, colorScheme, width, region] of [
      ['Status', 'light', 1280, 'Placed here'],
      ['Parameters', 'dark', 390, 'Parameters'],
      ['Backends', 'light', 390, 'Backends'],
      ['Command', 'dark', 1280, 'Command'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await show(title)
      await page.getByRole('region', { name: region, exact: true }).waitFor()
      await keepScreenshot(page, `cache-${title}-${colorScheme}-${width}`)
      t.same(await findBarriers(page), [], `${title} ${colorScheme} ${width}`)
    }
  })

  await t.test('it is deleted by its name, and once more because groups are on it', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete edge-1?' })
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
    await dialog.getByRole('textbox').fill('edge-1')
    await dialog.getByRole('button', { name: 'Delete' }).click()

    await page.getByRole('button', { name: 'Delete all the same' }).click()

    await page.getByText('No caches yet').waitFor()
    t.equal(new URL(page.url()).pathname, '/caches')
    t.same(wrongs, [])
  })

  function readTtl(): Promise<string> {
    return cache.adm('param.show', 'default_ttl')
  }
  function listBackends(): Promise<string> {
    return cache.adm('backend.list', '*.*')
  }
})

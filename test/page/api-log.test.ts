/** The api log in a browser: live, filtered by what the address says, searched by a trace id. */
import t from 'tap'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { startCoordinator } from '../support/daemon.js'

const hostile = '<img src=x onerror=alert(1)>'

void t.test('the api log shows calls as they are made, and finds one by its trace', async (t) => {
  const { base, api } = await startCoordinator(t, { words: ['--no-agent'] })
  const browser = await startBrowser(t)
  const path = '/administration/api-log'
  const { page, wrongs } = await openPage(browser, base, { path })
  await logInPage(page)
  await page.getByText('Live', { exact: true }).waitFor()

  await api.makeTag(hostile)
  const refused = await api.call('DELETE', '/tags/77')
  await api.call('POST', '/tags', { name: hostile })

  const rows = page.getByRole('row').filter({ hasText: /(POST|DELETE) / })
  await rows.filter({ hasText: '201' }).waitFor()
  await rows.filter({ hasText: '409' }).filter({ hasText: hostile }).waitFor()
  await page.getByRole('button', { name: /^Refused/ }).click()
  await rows.filter({ hasText: '201' }).waitFor({ state: 'detached' })
  t.equal(new URL(page.url()).searchParams.get('severity'), '2')
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await keepScreenshot(page, `api-log-${colorScheme}-${width}`)
    t.same(await findBarriers(page), [], `${width}`)
  }

  const trace = refused.headers.get('x-trace-id') ?? ''
  await page.getByRole('searchbox').fill(trace)
  await rows.filter({ hasText: '409' }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('link', { name: 'DELETE /tags/77' }).first().waitFor()
  t.equal(await rows.count(), 1)
  await rows.getByRole('link').click()
  const dialog = page.getByRole('dialog', { name: 'DELETE /api/v1/tags/77' })
  await dialog.getByText(trace).waitFor()
  await dialog.getByRole('button', { name: 'Copy the trace id' }).waitFor()
  await keepScreenshot(page, 'api-log-entry')
  t.same(await findBarriers(page), [])
  await dialog.getByRole('button', { name: 'All of this trace' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.same(
    [...new URL(page.url()).searchParams],
    [
      ['severity', '2'],
      ['q', trace],
    ],
  )
  t.equal(await page.locator('img').count(), 0)
  t.same(wrongs, [])
})

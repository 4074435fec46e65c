/** The API log in a browser: live, filtered by the address, searched by a trace id. */
import { pino } from 'pino'
import t from 'tap'
import { insertApiLogs } from '../../src/coordinator/api-log/api-log-queries.js'
import { openStore } from '../../src/coordinator/store/open-store.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { startCoordinator, type CoordinatorProcess } from '../support/daemon.js'

const hostile = '<img src=x onerror=alert(1)>'

void t.test('the API log shows calls live, and finds a call by its trace', async (t) => {
  const { base, api } = await startCoordinator(t, { words: ['--no-agent'] })
  const browser = await startBrowser(t)
  const path = '/administration/api-log'
  const { page, wrongs } = await openPage(t, browser, base, { path })
  await logInPage(page)
  await page.getByText('Live', { exact: true }).waitFor()

  const tag = await api.makeTag(hostile)
  const refused = await api.call('DELETE', '/tags/77')
  await api.call('POST', '/tags', { name: hostile })

  const rows = page.getByRole('row').filter({ hasText: /(POST|DELETE) / })
  await rows.filter({ hasText: '201' }).waitFor()
  await rows.filter({ hasText: '409' }).filter({ hasText: hostile }).waitFor()
  await rows
    .filter({ hasText: '201' })
    .filter({ hasText: `tag ${hostile}` })
    .waitFor()
  t.equal(await page.getByText(`tag ${tag}`, { exact: true }).count(), 0, 'its name, not its id')
  t.equal(await page.getByRole('link', { name: 'POST /auth/login' }).count(), 0)
  await page.getByRole('button', { name: /^Logins/ }).click()
  await page.getByRole('link', { name: 'POST /auth/login' }).first().waitFor()
  t.equal(await rows.filter({ hasText: '/tags' }).count(), 0)
  await page.getByRole('button', { name: /^Changes/ }).click()
  await page.getByRole('button', { name: /^Warning/ }).click()
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

void t.test('a trace is found in the whole log; queries are separate from changes', async (t) => {
  const coordinator = await startCoordinator(t, { words: ['--no-agent'] })
  await fillLog(coordinator)
  const { base, api } = coordinator
  const ban = { type: 'ban', expression: 'req.url ~ ^/a', target: { all: true } }
  await api.call('POST', '/invalidations/preview', ban)
  const browser = await startBrowser(t)
  const path = `/administration/api-log?q=${oldTrace}`
  const { page, wrongs } = await openPage(t, browser, base, { path })
  await logInPage(page)

  const old = page.getByRole('link', { name: 'DELETE /tags/1' })
  await old.waitFor()
  await page.getByText(/^These are the newest 20,000 of/).waitFor()
  t.equal(await old.count(), 1)
  await old.click()
  await page.getByRole('dialog').getByText(oldTrace).waitFor()
  const [{ id } = { id: 0 }] = JSON.parse(
    (await api.call('GET', `/apilogs?traceId=${oldTrace}`)).text,
  ) as { id: number }[] // as in the API documentation
  // As Escape and a link do before the next frame, since reloading the whole list would take longer.
  await page.evaluate(`document.querySelector('dialog').requestClose();
    history.pushState(null, '', '?entry=${id}')`)
  await page.waitForURL((url) => url.search === `?entry=${id}`)
  await page.getByRole('dialog').getByText(oldTrace).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const question = page.getByRole('link', { name: 'POST /invalidations/preview' })
  await page.getByRole('searchbox').fill('/preview')
  await page.getByText('Nothing matches this search').waitFor()
  await page.getByRole('button', { name: /^All calls/ }).click()
  await question.waitFor()
  t.equal(new URL(page.url()).searchParams.get('calls'), 'all')
  await api.makeTag('preview')
  await page.getByRole('searchbox').fill('post /tags')
  await page.getByRole('link', { name: 'POST /tags' }).waitFor()
  t.same(wrongs, [])
})

const oldTrace = 'the-Oldest-trace'

/** More rows than the page holds, written directly to the store: with calls, it would take minutes. */
async function fillLog(coordinator: CoordinatorProcess): Promise<void> {
  await coordinator.daemon.stop()
  const store = await openStore(
    `sqlite:${coordinator.stateDir}/coordinator.db`,
    pino({ level: 'silent' }),
  )
  const row = {
    organizationId: null,
    createdAt: Date.now(),
    severity: 1,
    msg: 'Deletes a tag',
    keyType: 'tag',
    keyId: null,
    account: 'root',
    method: 'DELETE',
    status: 204,
  }
  await store.transaction(async (queries) => {
    for (let at = 0; at < 20_100; at += 300) {
      const rows = Array.from({ length: 300 }, (_, place) => ({
        ...row,
        path: `/api/v1/tags/${at + place + 1}`,
        traceId: at + place === 0 ? oldTrace : `trace-of-row-${at + place}`,
      }))
      await insertApiLogs(queries, rows)
    }
    await queries.deleteFrom('changes').execute()
  })
  await store.close()
  await coordinator.start()
}

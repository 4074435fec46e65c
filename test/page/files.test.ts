/** Files and their editor, in a browser on a coordinator with a real cache: make, edit, check, save, compare, delete. */

import t from 'tap'
import { keepScreenshot, logInPage, openPage, startBrowser } from '../support/browser.js'
import { makeStateDir, startAgent, startCoordinator } from '../support/daemon.js'
import { startVarnishd } from '../support/varnishd.js'

const hostile = '<img src=x onerror=alert(1)>'
const shared = `sub vcl_deliver {\n    set resp.http.X-Hostile = "${hostile}";\n}\n`
const main =
  'vcl 4.1;\nbackend default none;\ninclude "shared.vcl";\nsub vcl_recv {\n    return (hash);\n}\n'

void t.test('files', async (t) => {
  const { base, api } = await startCoordinator(t)
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    ...{ coordinatorUrl: base.replace('http', 'ws'), name: 'edge', tags: ['here'] },
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  const sharedId = await api.makeFile('shared.vcl', shared, 2)
  const mainId = await api.makeFile('shop.vcl', main, 1)
  const browser = await startBrowser(t)
  const { page, wrongs } = await openPage(browser, base, { path: '/files' })
  await logInPage(page)

  await t.test('a text is written, checked with the message at its line, and saved', async (t) => {
    await page.getByRole('link', { name: 'shop.vcl' }).click()
    const text = page.getByRole('textbox', { name: 'Text of shop.vcl' })
    await text.waitFor()
    await keepScreenshot(page, 'file')
    await text.press('Control+End')
    await page.keyboard.type('sub vcl_hash { nonsense; ')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('alert').waitFor()
    await keepScreenshot(page, 'file-wrong')
    t.same(wrongs, [])
  })
  await page.context().close()
  t.ok(sharedId < mainId)
})

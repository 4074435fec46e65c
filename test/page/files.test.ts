/** Files and their editor, in a browser on a coordinator with a real cache: create, edit, check, save, compare, delete. */
import type { Page, Route } from 'playwright-core'
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
const shared = `sub vcl_deliver {\n    set resp.http.X-Hostile = "${hostile}";\n}\n`
const main =
  'vcl 4.1;\nbackend default none;\ninclude "shared.vcl";\nsub vcl_recv {\n  return (hash);\n}\n'

void t.test('files', async (t) => {
  const { base, api } = await startCoordinator(t)
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    coordinatorUrl: base.replace('http', 'ws'),
    name: 'edge',
    tags: ['here'],
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  const sharedId = await api.makeFile('shared.vcl', shared, 2)
  const mainId = await api.makeFile('shop.vcl', main, 1)
  await eventually('the agent is Running', async () => (await api.findAgent('edge'))?.state === 1)
  const deployment = await api.makeDeployment('here', await api.findTag('here'))
  const parts = { name: `shop ${hostile}`, mainFile: mainId, includes: [sharedId], deployment }
  const group = await api.makeGroup(parts)
  t.equal((await api.act(group, 'deploy', '?wait=60')).status, 200)
  const browser = await startBrowser(t)
  const list = await openPage(t, browser, base, { path: '/files' })
  const { page, wrongs } = list
  await logInPage(page)
  const text = page.getByRole('textbox', { name: 'Text of shop.vcl', exact: true })
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const type = async (words: string): Promise<void> => {
    await text.press('Control+Home')
    // In one step, as slow typing is undone in several.
    await page.keyboard.insertText(words)
    await page.getByText('not saved').waitFor()
  }

  await t.test('the list shows which groups use a file, and can be filtered', async (t) => {
    await page.getByRole('row').filter({ hasText: 'shop.vcl' }).getByText(hostile).waitFor()
    await press('Include 1')
    await page.getByRole('link', { name: 'shop.vcl' }).waitFor({ state: 'detached' })
    t.equal(await page.getByRole('link', { name: 'shared.vcl' }).count(), 1)
    await press('All 2')
  })

  await t.test('an error is shown once while typing, and the text does not move', async (t) => {
    const problems = page.getByRole('region', { name: 'Problems' })
    const height = async () => (await page.locator('.editor').boundingBox())?.height
    await page.getByRole('link', { name: 'shop.vcl' }).click()
    await text.waitFor()
    await page.getByLabel('as part of').waitFor()
    const before = await height()
    await type('nonsense ')

    await problems.getByText('1 problem', { exact: true }).waitFor()

    await page.locator('.cm-lint-marker-error').waitFor()
    t.equal(await height(), before)
    const places = problems.getByRole('list').getByRole('listitem')
    t.match(await places.allTextContents(), [/^shop.vcl line 1 ./], 'once')
    t.equal(await page.getByRole('alert').count(), 0)
    await look('file-wrong', page)
    // Outside of the editor, as the key belongs to the view.
    await press('Check')
    await page.keyboard.press('Control+s')
    const warning = page.getByRole('dialog', {
      name: 'Save shop.vcl although it does not compile?',
    })
    await warning.getByText('shop.vcl line 1').waitFor()
    await warning.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('not saved').waitFor()
    await problems.getByRole('button', { name: 'shop.vcl line 1', exact: true }).click()
    await text.press('Control+z')
    await press('Check')
    await problems.getByText('Compiles on edge.').waitFor()
    t.equal(await page.locator('.cm-lint-marker-error').count(), 0)
  })

  await t.test('an error in an include is linked, also when checked alone', async () => {
    const problems = page.getByRole('region', { name: 'Problems' })
    await api.editFile(sharedId, `${shared}nonsense\n`)
    await press('Check')
    await problems.getByRole('link', { name: /^shared.vcl line 4/ }).click()
    await page.getByRole('textbox', { name: 'Text of shared.vcl' }).getByText(hostile).waitFor()
    await page.getByLabel('as part of').selectOption('no group')
    await press('Check')
    await problems.getByText('shared.vcl line 4', { exact: true }).waitFor()
    await api.editFile(sharedId, shared)
    await page.goto(`/files/${mainId}`)
    await page.getByLabel('as part of').selectOption('no group')
    await press('Check')
    await problems.getByText('Compiles on edge.').waitFor()
  })

  await t.test('the files of a group are a tree, and each leads to its text', async (t) => {
    await page.goto(`/files/${mainId}`)
    const tree = page.getByRole('region', { name: `Files of shop ${hostile}` })
    const inner = tree.getByRole('list').getByRole('list').getByRole('link', { name: 'shared.vcl' })
    await inner.click()
    await page.getByRole('textbox', { name: 'Text of shared.vcl' }).waitFor()
    const current = tree.getByRole('link', { name: 'shared.vcl' })
    t.equal(await current.getAttribute('aria-current'), 'page')
    await tree.getByRole('link', { name: 'shop.vcl' }).click()
    await text.waitFor()
  })

  await t.test('a file that is opened during an outage loads afterwards', async () => {
    await page.getByRole('link', { name: 'VCL', exact: true }).first().click()
    const link = page.getByRole('link', { name: 'shop.vcl' })
    await link.waitFor()
    await page.context().setOffline(true)
    await link.click()
    await page.getByRole('button', { name: 'Try again' }).waitFor()

    await page.context().setOffline(false)

    await text.waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' })
  })

  await t.test('typed text is completed, explained and indented', async (t) => {
    await text.press('Control+End')
    await page.keyboard.type('sub vcl_deliver {\nset resp.ht', { delay: 20 })
    await page.getByRole('option', { name: 'resp.http.' }).waitFor()
    await page.getByText('Header of the response to the client').waitFor()
    await look('file-completion', page)
    t.equal(await page.getByRole('option', { name: 'req.restarts' }).count(), 0)
    await page.keyboard.press('Enter')
    await page.keyboard.type('X = "a";\n}', { delay: 20 })
    const lines = await page.locator('.cm-line').allTextContents()
    t.same(lines.slice(-3), ['sub vcl_deliver {', '  set resp.http.X = "a";', '}'])
    await page.getByText('vcl_deliver').last().hover()
    await page.getByText('Returns deliver, restart, synth, fail').waitFor()
    await page.mouse.move(0, 0)
    await press('Discard')
  })

  await t.test('unsaved text survives a reload, and saving creates a version', async (t) => {
    await page.goto(`/files/${mainId}`)
    await text.waitFor()
    await type('# mine')
    const asked: string[] = []
    page.once('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await page.reload()
    await page.getByText('not saved').waitFor()
    await text.getByText('# mine').waitFor()
    t.same(asked, ['beforeunload'])
    await press('Discard')
    await page.getByText('not saved').waitFor({ state: 'detached' })
    await press('Undo')
    await text.getByText('# mine').waitFor()

    await text.press('Control+s')

    await page.getByText('Saved as version 2.').waitFor()
    await page.getByText('not saved').waitFor({ state: 'detached' })
    t.match((await api.call('GET', `/files/${mainId}`)).text, /# mine/)
  })

  await t.test('another user’s version is announced at once, but not loaded', async (t) => {
    await api.editFile(mainId, `# theirs\n${main}`)
    await page.getByText(/^\S+ saved version 3 while you were editing version 2/).waitFor()
    await text.getByText('# mine').waitFor()
    await look('newer', page)

    await press('Show it')

    await text.getByText('# theirs').waitFor()
    await page.getByText('saved version 3 while you were editing').waitFor({ state: 'detached' })
    t.equal(await page.getByText('not saved').count(), 0)
  })

  await t.test('conflicting versions are shown together, and the user merges them', async (t) => {
    await type('# my next')
    await api.editFile(mainId, `# theirs\n${main}# their end\n`)
    await page.getByRole('button', { name: 'Compare both' }).waitFor()

    await press('Save')

    const dialog = page.getByRole('dialog', { name: 'Somebody else saved this file' })
    await dialog.getByText('# their end').waitFor()
    await dialog.getByText('# my next').waitFor()
    await look('conflict', page)
    await press('Keep editing')
    await press('Compare both')
    await dialog.getByRole('button', { name: 'Use theirs here' }).last().press('Enter')
    const mine = dialog.getByRole('textbox', { name: 'Your text' })
    await mine.getByText('# their end').waitFor()
    await press('Save mine as the next version')
    await page.getByText('Saved as version 5.').waitFor()
    t.match((await api.call('GET', `/files/${mainId}`)).text, /# my next.*# their end/)
  })

  await t.test(
    'versions are compared with each other and with the running one, and restored',
    async (t) => {
      await page.getByRole('link', { name: 'Versions' }).click()
      await page.getByText(`edge (shop ${hostile})`).waitFor()
      await look('versions', page)
      await page.getByRole('link', { name: 'Version 3', exact: true }).click()
      await page.getByText('# theirs').waitFor()
      await page.getByLabel('From').selectOption(`Version 1, on edge (shop ${hostile})`)
      await page.getByText('# mine').waitFor({ state: 'detached' })
      await look('compare', page)
      await page.getByRole('link', { name: 'Versions' }).click()
      await page.getByRole('row').filter({ hasText: 'Version 1' }).getByRole('button').click()
      await page.getByText('Version 1 restored as version 6.').waitFor()
      const restored = await api.call('GET', `/files/${mainId}`)
      t.match(JSON.parse(restored.text), { source: main })
    },
  )

  await t.test('a file is created, uploaded, renamed, and deleted by name', async () => {
    await press('Delete')
    await page.getByLabel('Type “shop.vcl” to confirm').fill('shop.vcl')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alert').getByText(`shop ${hostile}`).waitFor()
    await page.getByRole('link', { name: 'VCL' }).first().click()
    await press('New file')
    await page.getByLabel('Name', { exact: true }).fill('shop.vcl')
    await press('Create')
    await page.getByText(/shop\.vcl.*(taken|already|exists)/).waitFor()
    await page.getByLabel('Name', { exact: true }).fill(hostile)
    await press('Create')
    await page.getByRole('heading', { name: hostile }).waitFor()
    await press('Rename')
    await page.getByLabel('Name', { exact: true }).fill('plain.vcl')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'plain.vcl' }).waitFor()
    await press('Delete')
    await page.getByLabel('Type “plain.vcl” to confirm').fill('plain.vcl')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('plain.vcl deleted.').waitFor()
    let goOn = (): void => undefined
    const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
    const held = async (route: Route): Promise<void> => mayGoOn.then(() => route.continue())
    await page.route('**/api/v1/files?*', held, { times: 1 })
    await page.goto('/files')
    await page.getByLabel('Files to upload').setInputFiles([
      { name: 'shop.vcl', mimeType: 'text/plain', buffer: Buffer.from(`# up\n${main}`) },
      { name: 'logo.bin', mimeType: 'image/png', buffer: Buffer.from([0, 255, 1]) },
    ])
    // Only now are the existing names loaded.
    goOn()
    await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click()
    await page.getByText('version 7').waitFor()
    await press('Done')
    await page.getByRole('link', { name: 'logo.bin' }).waitFor()
    await api.makeFile('late.vcl', main)
    // Through the event stream: the view was not reopened.
    await page.getByRole('link', { name: 'late.vcl' }).waitFor()
  })

  await t.test('every view is accessible: light and dark, wide and narrow', async (t) => {
    await look('files', page)
    const one = await list.openTab(`/files/${mainId}`)
    await one.page.getByRole('link', { name: 'shared.vcl' }).waitFor()
    await one.page.getByRole('textbox', { name: 'Text of shop.vcl' }).press('Control+f')
    await one.page.keyboard.type('sub')
    const field = await one.page.locator('.cm-search').getByRole('textbox').first().boundingBox()
    const next = await one.page.locator('.cm-search').getByRole('button').first().boundingBox()
    t.equal(field?.height, next?.height, 'the search panel is styled like the page')
    await look('file', one.page)
    t.same([...wrongs, ...one.wrongs], [])
    t.equal(await page.locator('img').count(), 0)
  })
})

async function look(name: string, page: Page): Promise<void> {
  for (const [colorScheme, width] of [
    ['dark', 390],
    ['light', 1280],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
    t.same(await findBarriers(page), [], `${name} ${colorScheme} ${width}`)
  }
}

/** Groups in the page, on a real cache: created, previewed, deployed, changed, rolled back, refused, deleted. */
import t, { type Test } from 'tap'
import { answering, fetchMark } from '../support/observe-cache.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
  type OpenPage,
} from '../support/browser.js'
import type { ApiClient } from '../support/api-client.js'
import { makeStateDir, startAgent, startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startManagementProxy, type ManagementProxy } from '../support/management-proxy.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'

const hostile = '<img src=x onerror=alert(1)>'

const looks = [
  ['light', 1280],
  ['dark', 390],
] as const

interface Harness extends OpenPage {
  readonly api: ApiClient
  readonly cache: Varnishd
  readonly port: ManagementProxy
  readonly mainFile: number
}

void t.test('groups in the page', async (t) => {
  const harness = await start(t)
  const { page, wrongs } = harness

  await t.test('a deployment and a group are created; a hostile name is text', () => make(harness))
  await t.test('the effect of a deploy is shown before it', (t) => deployFirst(t, harness))
  await t.test('a changed file is shown line by line, then deployed', (t) => deployNext(t, harness))
  await t.test('an earlier revision is restored', (t) => goBack(t, harness))
  await t.test('a compile error is shown with file and line, and the old VCL still serves', (t) =>
    refuse(t, harness),
  )
  await t.test('every view is accessible: light and dark, wide and narrow', (t) => look(t, harness))
  await t.test('the deployed VCL is recompiled', (t) => reload(t, harness))
  await t.test('a failed deploy of an inactive group is shown as an error', (t) =>
    failUndeployed(t, harness),
  )
  await t.test('it is deleted after typing its name', () => takeAway(harness))
  await t.test('the includes of the main VCL are proposed, also nested ones', (t) =>
    proposeIncludes(t, harness),
  )

  t.equal(await page.locator('img').count(), 0)
  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const [cache, { base, api }] = await Promise.all([
    startVarnishd(t),
    startCoordinator(t, { words: ['--no-agent', '--stats-interval', '1'] }),
  ])
  const port = await startManagementProxy(t, cache)
  startAgent(t, cache, {
    coordinatorUrl: base.replace('http', 'ws'),
    name: 'edge',
    tags: ['web'],
    port: port.port,
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  const mainFile = await api.makeFile('site.vcl', answering('first'))
  const browser = await startBrowser(t)
  await eventually(
    'the agent is Running',
    async () => (await api.findAgent('edge'))?.stateName === 'Running',
  )
  const opened = await openPage(t, browser, base, { path: '/deployments' })
  await logInPage(opened.page)
  return { ...opened, api, cache, port, mainFile }
}

async function make({ page }: Harness): Promise<void> {
  await page.getByRole('button', { name: 'New deployment' }).click()
  await page.getByLabel('Name', { exact: true }).fill('front')
  await page.getByRole('checkbox', { name: 'web', exact: true }).check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'front Inactive' }).waitFor()
  await page.getByText('None yet: add it to a group.').waitFor()

  await page.getByRole('link', { name: 'Groups', exact: true }).click()
  await page.getByRole('button', { name: 'New group' }).click()
  await page.getByLabel('Name', { exact: true }).fill(hostile)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Main VCL is required: choose the file that caches compile').waitFor()
  await page.getByRole('radio', { name: 'site.vcl' }).check()
  await page.getByRole('checkbox', { name: 'front', exact: true }).check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()

  await page.getByRole('heading', { name: hostile }).waitFor()
  await page.getByText('Not on any cache.').waitFor()
}

async function deployFirst(t: Test, harness: Harness): Promise<void> {
  const { page, cache } = harness
  await openSection(harness, 'Deploy')

  await page.getByText('1 file changes, 1 cache now, compiles on 1 of 1').waitFor()
  const files = page.getByRole('region', { name: 'Files' })
  await files.getByText('new, version 1').click()
  await files.getByText('return (synth(200, "first"))').waitFor()
  await choose(harness, 'Caches 1')
  await page.getByRole('row', { name: /^edge added .*has all tags/ }).waitFor()
  await eventually('the cache is idle', async () => (await fetchMark(cache)).status === 503)
  await press(harness, 'Deploy')

  await seeRevision(harness, 1)
  await page.getByRole('row', { name: /^edge no change applied/ }).waitFor()
  await page.getByText('No file changes, 1 cache now, compiles on 1 of 1').waitFor()
  t.equal(await page.getByRole('button', { name: 'Roll back…' }).isDisabled(), true)
  t.equal((await fetchMark(cache)).mark, 'first')
  const [view, message] = await Promise.all([
    page.getByRole('main').boundingBox(),
    page.getByText(`${hostile} deployed.`).boundingBox(),
  ])
  t.ok(view && message && message.y >= view.y + view.height, 'a message covers no button')
}

async function deployNext(t: Test, harness: Harness): Promise<void> {
  const { page, cache, port, api, mainFile } = harness
  await choose(harness, 'Files 0')
  // By another user: the displayed plan follows.
  await api.editFile(mainFile, answering('second'))

  const files = page.getByRole('region', { name: 'Files' })
  await files.getByText('version 1 → 2').waitFor()
  const diff = files.getByRole('region', { name: 'What changes in site.vcl' })
  await diff.getByText('+sub vcl_recv { return (synth(200, "second")); }').waitFor()
  await diff.getByText('-sub vcl_recv { return (synth(200, "first")); }').waitFor()
  await openSection(harness, 'Overview')
  await page.getByText('1 change is not deployed.').waitFor()
  t.equal(await page.locator(`a[href^="/groups/"][href$="/graphs"]`).count(), 1)
  await page.getByRole('link', { name: 'Review deploy' }).click()
  await page.getByText('1 file changes, 1 cache now, compiles on 1 of 1').waitFor()
  let goOn = (): void => undefined
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
  const act = () => mayGoOn
  const held = port.trap({ name: 'vcl.inline', moment: 'before', act, fate: 'pass' })
  await press(harness, 'Deploy')

  await page.getByText('Deploying: 0 of 1 loaded').waitFor()
  // They are shown automatically.
  const caches = page.getByRole('table', { name: 'Caches of the deploy' })
  await caches.getByText('loading', { exact: true }).waitFor()
  t.equal((await fetchMark(cache)).mark, 'first')
  goOn()
  await held
  await caches.getByText('applied', { exact: true }).waitFor()
  await seeRevision(harness, 2)
  t.equal((await fetchMark(cache)).mark, 'second')
}

async function goBack(t: Test, harness: Harness): Promise<void> {
  const { page, cache } = harness
  const dialog = page.getByRole('dialog', { name: 'Revision 1, deploy' })
  await press(harness, 'Roll back…')
  await dialog.getByText('version 2 → 1').waitFor()
  await keepScreenshot(page, 'group-rollback')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await openSection(harness, 'History')
  await page.getByRole('button', { name: 'deploy · revision 1' }).click()
  await dialog.getByRole('button', { name: 'Roll back to revision 1' }).waitFor()
  await page.keyboard.press('Escape')
  await openSection(harness, 'Deploy')
  const result = page.getByRole('region', { name: 'Result of the last change' })
  await result.getByRole('heading', { name: 'Since the deploy of revision 2' }).waitFor()
  await result.getByRole('row', { name: /^Requests .*[\d.]+\/s$/ }).waitFor()
  await keepScreenshot(page, 'group-result')

  await result.getByRole('button', { name: 'Roll back to revision 1' }).click()

  await seeRevision(harness, 3)
  await result.getByRole('heading', { name: 'Since the rollback of revision 3' }).waitFor()
  t.equal(await result.getByRole('button').count(), 0, 'not to the revision that was left')
  await openSection(harness, 'History')
  await page.getByRole('button', { name: 'rollback · revision 3' }).waitFor()
  t.equal((await fetchMark(cache)).mark, 'first')
}

async function refuse(t: Test, harness: Harness): Promise<void> {
  const { page, cache, api, mainFile } = harness
  await openSection(harness, 'Deploy')
  await page.getByText(/compiles on 1 of 1/).waitFor()
  await api.editFile(mainFile, 'vcl 4.1;\nbackend default none;\nsub vcl_recv { sett; }\n')

  await page.getByText('1 file changes, 1 cache now, does not compile').waitFor()
  await page.getByText('The VCL does not compile. Fix the errors below.').waitFor()
  t.equal(await deployButton(page).isDisabled(), true)
  const alert = page.getByRole('region', { name: 'Errors' }).getByRole('alert')
  await alert.getByText(/site\.vcl line 3 pos \d+: .*edge/s).waitFor()
  await alert.getByText(/Trace [\w-]{8,}/).waitFor()
  const place = page.getByRole('link', { name: 'site.vcl line 3' }).first()
  t.equal(await place.getAttribute('href'), `/files/${mainFile}?line=3`)
  await keepScreenshot(page, 'group-refused')

  // By a user without the preview.
  await api.act(await groupId(api), 'deploy')

  const failed = page.getByRole('region', { name: 'The last deploy failed' })
  await openSection(harness, 'Overview')
  await failed.getByText(/site\.vcl line 3 pos/).waitFor()
  await seeRevision(harness, 3)
  t.equal((await fetchMark(cache)).mark, 'first')

  await api.editFile(mainFile, answering('first'))
  await openSection(harness, 'Deploy')
  await page.getByText(/compiles on 1 of 1/).waitFor()
  t.equal(await deployButton(page).isDisabled(), false)
}

async function look(t: Test, { page }: Harness): Promise<void> {
  const group = new URL(page.url()).pathname.replace('/deploy', '')
  for (const [name, path, shown] of [
    ['groups', '/groups', 'whole caches'],
    ['group', group, 'applied'],
    ['group-deploy', `${group}/deploy`, 'compiles on 1 of 1'],
    ['group-caches', `${group}/deploy?tab=caches`, 'no change'],
  ] as const) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(path)
    await page.getByText(shown).first().waitFor()
    for (const [colorScheme, width] of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await keepScreenshot(page, `${name}-${colorScheme}-${width}`)
      t.same(await findBarriers(page), [], `${name} ${colorScheme} ${width}`)
    }
    const wide = 'document.documentElement.scrollWidth > innerWidth'
    t.equal(await page.evaluate(wide), false, `nothing sticks out of ${name}`)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}

async function reload(t: Test, harness: Harness): Promise<void> {
  const { page, cache, port } = harness
  port.forget()
  await press(harness, 'Recompile on caches…')
  t.notOk(port.changes().some((line) => line.startsWith('vcl.inline')))
  await page.getByRole('dialog').getByRole('button', { name: 'Recompile' }).click()

  await page.getByText(`${hostile} recompiled.`).waitFor()
  t.ok(port.changes().some((line) => line.startsWith('vcl.inline')))
  t.equal((await fetchMark(cache)).mark, 'first')
}

async function failUndeployed(t: Test, harness: Harness): Promise<void> {
  const { page, cache, api, mainFile } = harness
  await press(harness, 'Undeploy')
  const dialog = page.getByRole('dialog')
  const sure = dialog.getByRole('button', { name: 'Undeploy' })
  t.equal(await sure.isDisabled(), true)
  await dialog.getByRole('textbox').fill(hostile)
  await sure.click()
  await page.getByRole('heading', { name: 'Inactive' }).waitFor()
  await eventually('the cache is idle', async () => (await fetchMark(cache)).status === 503)

  await api.editFile(mainFile, 'vcl 4.1;\nbackend default none;\nsub vcl_recv { sett; }\n')
  // By another user: here, the plan shows that it would fail.
  t.equal((await api.act(await groupId(api), 'deploy')).status, 422)
  await page.reload()

  await page.getByRole('heading', { name: /Inactive deploy failed/ }).waitFor()
  await openSection(harness, 'Overview')
  await page.getByRole('region', { name: 'The last deploy failed' }).waitFor()
  t.equal(await page.getByRole('region', { name: 'Problems' }).count(), 0, 'it is shown once')
  const address = page.url()
  await page.locator('.view-head-back').click()
  const problem = page.getByRole('row', { name: /Inactive load failed/ }).getByText('load failed')
  await problem.waitFor()
  t.match(await problem.getAttribute('class'), /tone-bad/)
  await keepScreenshot(page, 'groups-failed')
  t.same(await findBarriers(page), [])
  await page.goto(address)
}

async function takeAway({ page }: Harness): Promise<void> {
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('textbox').fill(hostile)
  await dialog.getByRole('button', { name: 'Delete' }).click()

  await page.getByText('No groups yet').waitFor()
  await page.goto('/tags')
  await page.getByRole('link', { name: 'web' }).click()
  await page.getByRole('link', { name: 'front' }).waitFor()
}

async function proposeIncludes(t: Test, { page, api }: Harness): Promise<void> {
  const main = 'vcl 4.1;\nbackend default none;\ninclude "rules.vcl";\n'
  await api.makeFile('whole.vcl', main)
  await api.makeFile('rules.vcl', 'include "lists.vcl";\n', 2)
  await api.makeFile('lists.vcl', 'acl office { "192.0.2.0"/24; }\n', 2)
  await page.goto('/groups')
  await page.getByRole('button', { name: 'New group' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New group' })
  await dialog.getByLabel('Name', { exact: true }).fill('whole')
  await dialog.getByRole('radio', { name: 'whole.vcl' }).check()

  await dialog.getByText('whole.vcl includes rules.vcl, lists.vcl.').waitFor()
  await keepScreenshot(page, 'group-includes-proposed')
  t.same(await findBarriers(page), [])
  await dialog.getByRole('button', { name: 'Add them' }).click()

  await dialog.getByText('whole.vcl includes').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'whole' }).waitFor()
  const { text } = await api.call('GET', '/vclgroups?name=whole')
  const [made] = JSON.parse(text) as { includes: { name: string }[] }[] // as in the API documentation
  t.same(made?.includes.map(({ name }) => name).toSorted(), ['lists.vcl', 'rules.vcl'])
}

/** By the name of its tab. */
function openSection({ page }: Harness, name: string): Promise<void> {
  const sections = page.getByRole('navigation', { name: 'Parts of the group' })
  return sections.getByRole('link', { name, exact: true }).click()
}

/** A part of the deploy; its name includes the count. */
function choose({ page }: Harness, name: string): Promise<void> {
  const parts = page.getByRole('group', { name: 'Parts of the deploy' })
  return parts.getByRole('button', { name }).click()
}

function deployButton(page: OpenPage['page']) {
  return page.getByRole('button', { name: 'Deploy', exact: true })
}

function press({ page }: Harness, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click()
}

/** The heading shows the revision once it serves. */
function seeRevision({ page }: Harness, revision: number): Promise<void> {
  return page.getByRole('heading', { name: new RegExp(`Active revision ${revision}$`) }).waitFor()
}

async function groupId(api: ApiClient): Promise<number> {
  const { text } = await api.call('GET', '/vclgroups')
  return (JSON.parse(text) as { id: number }[])[0]?.id ?? 0 // as in the API documentation
}

/** Tags, domains and deployments in the page, and a group with domains: its routing, its stage, and users who may only read. */
import t, { type Test } from 'tap'
import { callsTo } from '../coordinator/console/console-client.js'
import type { ApiClient } from '../support/api-client.js'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
  type OpenPage,
} from '../support/browser.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { watchRollout, writePolicy } from './watch-rollout.js'

const hostile = '<img src=x onerror=alert(1)>'
const caches = 3

interface Harness extends OpenPage {
  readonly api: ApiClient
}

void t.test('parts of groups in the page', async (t) => {
  const { base, api } = await startCoordinator(t, {
    words: ['--no-agent', '--name', 'edge', '--simulate', String(caches), '--tags', 'here'],
  })
  const browser = await startBrowser(t)
  await eventually('all agents are Running', async () => {
    const agents = await api.listAgents()
    return agents.filter(({ stateName }) => stateName === 'Running').length === caches
  })
  const harness = { api, ...(await openPage(t, browser, base, { path: '/tags' })) }
  await logInPage(harness.page)

  await t.test('a tag is created, renamed, restored and deleted by name', () => liveTag(harness))
  await t.test('a domain in use by a group is not deleted, and the reason is shown', () =>
    keepDomain(harness),
  )
  await t.test('the routing of a deploy is previewed', () => showRouting(harness))
  await t.test('concurrent edits of a group do not overwrite each other unseen', () =>
    editTogether(harness),
  )
  await t.test('a stage is shown beside the release, then promoted', (t) => stage(t, harness))
  await t.test('a deploy in waves is watched, paused, advanced and aborted', (t) =>
    watchRollout(t, harness),
  )
  await t.test('a policy is written, and its errors are shown at their inputs', (t) =>
    writePolicy(t, harness),
  )
  await t.test('a change that leaves a group short needs a confirmation', () => shrink(harness))
  await t.test('a deploy without enough caches is pending until there are enough', (t) =>
    deployLater(t, harness),
  )
  await t.test('a group of the console is shown, but cannot be changed here', async (t) => {
    await callsTo(base)('POST', '/v1/group', { body: { name: 'legacy' } })
    await showConsoleGroup(t, harness)
  })
  t.equal(await harness.page.locator('img').count(), 0)
  t.same(harness.wrongs, [])

  await t.test('a user who may only read is offered no changes', async (t) => {
    const { page, wrongs } = await openPage(t, browser, base, { path: '/groups' })
    await page.getByLabel('Organization').fill('red')
    await logInPage(page, await makeReader(api))
    await lookOnly(t, page)
    await seeOwner(t, harness.page)
    t.same(wrongs, [])
  })
})

async function deployLater(t: Test, { page, api }: Harness): Promise<void> {
  const tag = await api.makeTag('soon')
  const mainFile = await api.makeFile('later.vcl', 'vcl 4.1;\nbackend default none;\n')
  const deployment = await api.makeDeployment('later', tag)
  const group = await api.makeGroup({ name: 'later', mainFile, deployment })
  const { text } = await api.call('POST', '/domains', { fqdn: 'later.example' })
  const { id } = JSON.parse(text) as { id: number } // every created object has an id
  await api.call('PUT', `/vclgroups/${group}`, { domains: [{ id }] })
  await page.goto(`/groups/${group}/deploy`)

  await page.getByText(/A deploy waits until enough caches fit/).waitFor()
  await keepScreenshot(page, 'group-deploy-later')
  t.same(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Deploy when caches fit' }).click()
  await page.getByText('It continues in the background.').waitFor()
  t.equal(await page.getByText(/^Trace/).count(), 0, 'it is no error')
  const found = await api.readGroup(group)
  t.match(found, { wish: { pending: true } })

  const [edge] = await api.listAgents()
  await api.call('PUT', `/agents/${edge?.id}`, {
    tags: [...(edge?.tags ?? []).map((one) => ({ id: one.id })), { id: tag }],
  })
  await page.getByRole('heading', { name: 'later Active' }).waitFor()
}

async function liveTag({ page }: Harness): Promise<void> {
  await page.getByRole('link', { name: 'here' }).waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('Name', { exact: true }).fill('canary')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'canary' }).waitFor()

  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Name', { exact: true }).fill(hostile)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: hostile }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'canary' }).waitFor()

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('canary')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('link', { name: 'here' }).waitFor()
  await page.getByRole('link', { name: 'canary' }).waitFor({ state: 'detached' })
}

async function keepDomain({ page, api }: Harness): Promise<void> {
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  await page.getByRole('button', { name: 'New domain' }).click()
  await page.getByLabel('Name', { exact: true }).fill('not a name')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText(/^fqdn/).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('www.shop.example')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('None yet: add it to a group').waitFor()
  const ofDomain = new URL(page.url()).pathname.replace('/domains/', '/log?domain=')
  await page.getByRole('main').locator(`a[href$="${ofDomain}"]`).waitFor()

  const source = 'vcl 4.1;\nbackend default none;\n'
  const mainFile = await api.makeFile('shop.vcl', source)
  const limits = { min: 2, max: 2 }
  const deployment = await api.makeDeployment('pair', await api.findTag('here'), limits)
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
  const id = Number(new URL(page.url()).pathname.split('/').at(-1))
  await api.call('PUT', `/vclgroups/${group}`, { domains: [{ id }] })
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('www.shop.example')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()

  await page.getByRole('alert').getByText('shop').waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'shop', exact: true }).click()
  await page.getByText('Not on any cache.').waitFor()
}

async function showRouting({ page, api }: Harness): Promise<void> {
  await page.getByRole('link', { name: 'Deploy…' }).click()
  const parts = page.getByRole('group', { name: 'Parts of the deploy' })
  await page.getByText('1 file changes, 1 domain changes, 2 caches now').waitFor()
  await parts.getByRole('button', { name: 'Routing' }).click()
  const routing = page.getByRole('region', { name: 'Routing', exact: true })
  await routing.getByText(/^\+.*"www\.shop\.example"\) \{ return \(vcl\(cf-l-\d+\)\); \}/).waitFor()
  await routing.getByText('Nothing is routed to this group yet.').waitFor()
  await parts.getByRole('button', { name: 'Caches 2' }).click()
  await page.getByText('2 added').waitFor()
  await page.getByText('1 not placed').waitFor()
  await page.getByText('the deployments that it fits have reached their max').first().waitFor()
  const pair = await findId(api, '/deployments?name=pair')
  await api.call('PUT', `/deployments/${pair}`, { max: 3 })
  await page.getByText('1 file changes, 1 domain changes, 3 caches now').waitFor()
  await page.getByText('3 added').waitFor()
  await api.call('PUT', `/deployments/${pair}`, { max: 2 })
  await page.getByText('1 not placed').waitFor()

  await page.getByRole('button', { name: 'Deploy', exact: true }).click()

  await page.getByRole('heading', { name: /Active revision 1$/ }).waitFor()
  await parts.getByRole('button', { name: 'Routing' }).click()
  await routing.getByText('No change on any cache.').waitFor()
  await page
    .getByRole('region', { name: /^Routing on edge/ })
    .getByText('"www.shop.example"')
    .waitFor()
}

async function editTogether({ page, api }: Harness): Promise<void> {
  const group = await findId(api, '/vclgroups?name=shop')
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit group' })
  await dialog.getByRole('radio', { name: 'shop.vcl' }).waitFor()
  await api.call('PUT', `/vclgroups/${group}`, { name: 'bazaar' })
  await page.locator('h1').getByText('bazaar').waitFor()

  await dialog.getByRole('button', { name: 'Save' }).click()

  await dialog
    .getByRole('alert')
    .getByText(/changed|edited/)
    .waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await api.call('PUT', `/vclgroups/${group}`, { name: 'shop' })
  await page.locator('h1').getByText('shop').waitFor()
}

async function stage(t: Test, { page, api }: Harness): Promise<void> {
  const group = await findId(api, '/vclgroups?name=shop')
  const placed = (await api.readGroup(group)).agentStates.map(({ agent }) => agent.name)
  const free = (await api.listAgents()).find(({ name }) => !placed.includes(name))
  const tag = await api.makeTag('aside')
  await api.call('PUT', `/agents/${free?.id ?? 0}`, { tags: [{ id: tag }] })
  const staged = 'vcl 4.1;\nbackend default none;\n# staged\n'
  await api.editFile(await findId(api, '/files?name=shop.vcl'), staged)
  await api.makeTag('nobody')
  await api.call('POST', '/domains', { fqdn: 'next.shop.example' })
  const other = placed.length + 1
  await page.getByRole('link', { name: 'Stage', exact: true }).click()
  const region = page.getByRole('region', { name: 'Stage' })
  const button = region.getByRole('button', { name: 'Stage', exact: true })
  const nobody = region.getByRole('checkbox', { name: 'nobody no running cache has it' })
  t.equal(await nobody.isDisabled(), true)
  await region.getByRole('checkbox', { name: `here ${other} caches` }).check()
  await region.getByText(/^Cannot go to edge-.*: the group itself is placed there\.$/).waitFor()
  t.equal(await button.isDisabled(), true)
  await region.getByRole('checkbox', { name: 'next.shop.example' }).check()
  await region.getByRole('checkbox', { name: 'www.shop.example' }).uncheck()
  await region.getByText(/^Goes to edge-.*, edge-.*, edge-/).waitFor()
  await keepScreenshot(page, 'group-stage-form')
  t.same(await findBarriers(page), [])
  await region.getByRole('checkbox', { name: /^here/ }).uncheck()
  await region.getByRole('checkbox', { name: 'aside 1 cache' }).check()
  await region.getByText(`Goes to ${free?.name ?? ''}.`).waitFor()
  await button.click()

  await region.getByText('+# staged').waitFor()
  await region.getByText('next.shop.example').waitFor()
  const caches = region.getByRole('table', { name: 'Caches of the stage' })
  await caches.getByRole('row', { name: new RegExp(`^${free?.name ?? ''} applied .*/s`) }).waitFor()
  await keepScreenshot(page, 'group-stage')
  t.same(await findBarriers(page), [])
  await region.getByRole('button', { name: 'Discard stage…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard stage' }).click()
  await region.getByText('Nothing is staged').waitFor()
  await page.getByRole('checkbox', { name: 'aside' }).check()
  await button.click()
  await region.getByText('+# staged').waitFor()
  await region.getByRole('button', { name: 'Promote…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click()

  await page.getByRole('heading', { name: /Active revision 2$/ }).waitFor()
  await region.getByText('Nothing is staged').waitFor()
}

async function shrink({ page }: Harness): Promise<void> {
  const sections = page.getByRole('navigation', { name: 'Parts of the group' })
  await sections.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('link', { name: 'pair' }).click()
  await page.getByRole('link', { name: 'shop', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Min', { exact: true }).fill('3')
  await page.getByLabel('Max', { exact: true }).fill('3')
  await page.getByRole('checkbox', { name: 'aside' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('checkbox', { name: /Change it anyway/ }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

async function lookOnly(t: Test, page: OpenPage['page']): Promise<void> {
  await page.getByRole('link', { name: 'theirs' }).waitFor()
  t.equal(await page.getByRole('columnheader', { name: 'Organization' }).count(), 0)
  t.equal(await page.getByRole('button', { name: 'New group' }).count(), 0)
  await page.getByRole('link', { name: 'theirs' }).click()
  await page.getByText('Not on any cache.').waitFor()
  await page.getByRole('navigation').getByText('Read-only', { exact: true }).waitFor()
  for (const name of ['Edit', 'Delete', 'Deploy…'])
    t.equal(await page.getByText(name, { exact: true }).count(), 0, name)
  await page.getByRole('link', { name: 'Deploy', exact: true }).click()
  await page.getByText('0 caches now').waitFor()
  for (const name of ['Deploy', 'Roll back…'])
    t.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
  t.same(await findBarriers(page), [])
}

/** As the system administrator, who sees the objects of several organizations. */
async function seeOwner(t: Test, page: OpenPage['page']): Promise<void> {
  await page.goto('/groups')
  await page.setViewportSize({ width: 1920, height: 800 })
  const row = page.getByRole('row').filter({ hasText: 'theirs' })
  await row.getByText('red', { exact: true }).waitFor()
  const widest = "Math.max(...[...document.querySelectorAll('th')].map((one) => one.clientWidth))"
  t.ok(Number(await page.evaluate(widest)) <= 520, 'no column is wide and empty')
  await keepScreenshot(page, 'groups-1920')
  await row.getByRole('link', { name: 'theirs' }).click()
  await page.getByRole('heading', { name: /theirs .*red$/ }).waitFor()
}

async function showConsoleGroup(t: Test, { page }: Harness): Promise<void> {
  await page.getByRole('link', { name: 'Groups', exact: true }).first().click()
  await page.getByRole('link', { name: 'legacy' }).click()
  await page.getByText('managed in the console').waitFor()
  await page.getByText('its caches are named in the console').waitFor()
  for (const name of ['Edit', 'Delete'])
    t.equal(await page.getByRole('button', { name }).count(), 0, name)
  for (const name of [/^Deploy…?$/, /^Stage/])
    t.equal(await page.getByRole('main').getByRole('link', { name }).count(), 0, String(name))
}

/** An account that may only read groups, in an organization that has one. */
async function makeReader(api: ApiClient) {
  const make = async (path: string, body: object): Promise<number> => {
    const { status, text } = await api.call('POST', path, body)
    if (status !== 201) throw new Error(`${path} answered ${status}: ${text}`)
    return (JSON.parse(text) as { id: number }).id // every created object has an id
  }
  const organization = { id: await make('/organizations', { name: 'red' }) }
  const file = await make('/vcls', { name: 'x.vcl', source: 'vcl 4.1;\n', organization })
  await make('/vclgroups', { name: 'theirs', mainVCL: { id: file }, organization })
  const password = 'a password of the test'
  const assign = `/organizations/${organization.id}/assign`
  for (const name of ['chief', 'reader']) {
    const account = { id: await make('/accounts', { name, password }) }
    await api.call('PUT', assign, { account })
    if (name === 'reader')
      await make('/permissions', { account, organization, type: 'vclgroup', read: true })
  }
  return { user: 'reader', password }
}

async function findId(api: ApiClient, path: string): Promise<number> {
  const { text } = await api.call('GET', path)
  return (JSON.parse(text) as { id: number }[])[0]?.id ?? 0 // as in the API documentation
}

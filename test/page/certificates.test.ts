/** Certificates in the page, on simulated caches with or without TLS: created, deployed, refused, renewed, rolled back, deleted. */
import t, { type Test } from 'tap'
import { startTlsCache, type TlsCache } from '../coordinator/certificates/tls-fleet.js'
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
import { makeDomainCertificate, type CertificateText } from '../support/domain-certificates.js'
import { eventually } from '../support/eventually.js'

const names = ['www.shop.example', 'shop.example']

interface Harness extends OpenPage {
  readonly api: ApiClient
  readonly base: string
  readonly edge: TlsCache
  readonly first: CertificateText
  readonly second: CertificateText
}

void t.test('certificates in the page', async (t) => {
  const harness = await start(t)
  const { wrongs } = harness

  await t.test('a key that does not fit the chain is refused, and removed from the form', (t) =>
    refuseKey(t, harness),
  )
  await t.test('one file provides chain and key, and the key is masked', (t) => make(t, harness))
  await t.test('a deploy shows which caches serve it, and why others do not', (t) =>
    deploy(t, harness),
  )
  await t.test('a cache’s refusal is shown verbatim, and so is an undeployed change', (t) =>
    refuseDeploy(t, harness),
  )
  await t.test('it is rolled back after a confirmation, and updated live', () => goBack(harness))
  await t.test('every user sees which certificates expire soon', (t) => look(t, harness))
  await t.test('it is renamed, and deleted after typing its name', (t) => remove(t, harness))

  t.same(wrongs, [])
})

async function start(t: Test): Promise<Harness> {
  const [{ base, api }, browser, first, second] = await Promise.all([
    startCoordinator(t),
    startBrowser(t),
    makeDomainCertificate({ names, days: 5 }),
    makeDomainCertificate({ names, days: 60 }),
  ])
  const url = base.replace('http', 'ws')
  const token = await api.makeJoinToken(2)
  const edge = await startTlsCache(t, { url, token, name: 'edge', tags: ['web'] })
  await startTlsCache(t, { url, token, name: 'plain', tags: ['web'], hasTls: false })
  for (const name of ['edge', 'plain'])
    await eventually(
      `${name} runs`,
      async () => (await api.findAgent(name))?.stateName === 'Running',
    )
  for (const fqdn of names) await api.make('/domains', { fqdn })
  await api.makeDeployment('front', await api.findTag('web'))
  const opened = await openPage(t, browser, base, { path: '/certificates' })
  await logInPage(opened.page)
  return { ...opened, api, base, edge, first, second }
}

async function refuseKey(t: Test, { page, first, second }: Harness): Promise<void> {
  await page.getByText('No certificates yet').waitFor()
  await page.keyboard.press('n')
  await page.keyboard.type('shop')
  await page.getByLabel('Chain', { exact: true }).fill(first.chain)
  const key = page.getByLabel('Key', { exact: true })
  await key.fill(second.key)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByText(/^key: .*certificate/)
    .waitFor()
  t.equal(await key.inputValue(), '')
}

async function make(t: Test, { page, first }: Harness): Promise<void> {
  const dialog = page.getByRole('dialog')
  const key = page.getByLabel('Key', { exact: true })
  await dialog.getByLabel('File of the chain').setInputFiles({
    name: 'both.pem',
    mimeType: 'application/x-pem-file',
    buffer: Buffer.from(first.chain + first.key),
  })
  await eventually('the key is in its own field', async () =>
    (await key.inputValue()).includes('PRIVATE KEY'),
  )
  t.notMatch(await page.getByLabel('Chain', { exact: true }).inputValue(), /PRIVATE KEY/)
  const shownAs = await key.evaluate((field) =>
    getComputedStyle(field).getPropertyValue('-webkit-text-security'),
  )
  t.equal(shownAs, 'disc')
  await page.getByRole('checkbox', { name: 'front', exact: true }).check()
  await keepScreenshot(page, 'certificate-new')
  t.same(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: /^shop Inactive expires in 4 days$/ }).waitFor()
  t.notMatch(await page.content(), /PRIVATE KEY/)
}

async function deploy(t: Test, { page }: Harness): Promise<void> {
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByText('shop deployed.').waitFor()
  await page.getByRole('heading', { name: /^shop Active/ }).waitFor()
  await page.getByRole('row', { name: /^edge applied/ }).waitFor()
  await page.getByRole('row', { name: /^plain passed no TLS listener/ }).waitFor()
  await keepScreenshot(page, 'certificate')
  t.same(await findBarriers(page), [])
}

async function refuseDeploy(t: Test, { page, edge, api, first, second }: Harness): Promise<void> {
  edge.refusing = true
  await page.getByRole('button', { name: 'Renew…' }).click()
  await page.getByLabel('Chain', { exact: true }).fill(second.chain)
  await page.getByLabel('Key', { exact: true }).fill(second.key)
  await page.getByRole('button', { name: 'Renew and deploy' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText(/edge: .*Unable to read certificate file/).waitFor()
  await page.getByRole('heading', { name: /^shop Active deploy failed$/ }).waitFor()
  await page.getByText('caches serve on what they had').waitFor()
  await keepScreenshot(page, 'certificate-refused')
  t.same(await findBarriers(page), [])
  await page.reload()
  await page
    .getByRole('region', { name: 'Why the last deploy failed' })
    .getByText(/Unable to read/)
    .waitFor()
  await page.getByRole('row', { name: /^edge applied/ }).waitFor()

  edge.refusing = false
  const [{ id }] = JSON.parse((await api.call('GET', '/certificates')).text) as [{ id: number }]
  await api.call('PUT', `/certificates/${id}`, { ...first })
  await api.call('PUT', `/certificates/${id}/deploy`)
  await page.getByRole('heading', { name: /^shop Active expires in 4 days$/ }).waitFor()
  await api.call('PUT', `/certificates/${id}`, { ...second })
  await page.getByRole('heading', { name: /^shop Active not deployed$/ }).waitFor()
  await page.getByText('It was changed and not deployed since').waitFor()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByText('shop deployed.').waitFor()
  await page.getByRole('heading', { name: /^shop Active$/ }).waitFor()
}

async function goBack(harness: Harness): Promise<void> {
  const { page } = harness
  const { page: other } = await harness.openTab('/certificates')
  const row = other.getByRole('row').filter({ hasText: 'shop' })
  await row.filter({ hasText: '1 of 1' }).waitFor()
  await page.getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
  await page.getByText('shop rolled back.').waitFor()
  await page.getByRole('heading', { name: /^shop Active expires in 4 days$/ }).waitFor()
  await row.filter({ hasText: 'expires in 4 days' }).waitFor()
  await other.close()
}

async function look(t: Test, { api, base, page, second }: Harness): Promise<void> {
  await api.make('/certificates', { name: 'later', ...second })
  for (const [theme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    const browser = page.context().browser()
    if (!browser) throw new Error('the page has a browser')
    const seen = await openPage(t, browser, base, { path: '/certificates', theme, width })
    await logInPage(seen.page)
    const rows = seen.page.getByRole('row')
    await rows.filter({ hasText: 'later' }).waitFor()
    t.match(await rows.allTextContents(), [/Name/, /^shop.*expires in 4 days/, /^later/])
    await keepScreenshot(seen.page, `certificates-${theme}`)
    t.same(await findBarriers(seen.page), [])
    await seen.page.getByRole('link', { name: 'shop' }).click()
    await seen.page.getByRole('row', { name: /^edge applied/ }).waitFor()
    await keepScreenshot(seen.page, `certificate-${theme}`)
    t.same(await findBarriers(seen.page), [])
    t.same(seen.wrongs, [])
    await seen.page.context().close()
  }
}

async function remove(t: Test, { page, edge, api }: Harness): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Name', { exact: true }).fill('store')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: /^store Active/ }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 cache stops to serve it.').waitFor()
  await page.getByLabel('Type “store” to confirm').fill('store')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('store deleted.').waitFor()
  await page.getByRole('link', { name: 'later' }).waitFor()
  t.match(JSON.parse((await api.call('GET', '/certificates')).text), [{ name: 'later' }])
  await eventually('the cache discards the certificate', () =>
    Promise.resolve(edge.engine.journal.some((line) => line.startsWith('tls.cert.discard'))),
  )
}

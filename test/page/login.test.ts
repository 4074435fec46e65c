/** Login to the page with an organization's identity provider, and accounts without permissions. */
import type { Route } from 'playwright-core'
import t from 'tap'
import { findBarriers, keepScreenshot, openPage, startBrowser } from '../support/browser.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startIdentityProvider } from '../support/identity-provider.js'

void t.test('the page completes a login with an identity provider', async (t) => {
  const { base, api } = await startCoordinator(t)
  const callback = `${base}/api/v1/auth/oidc/callback`
  const secret = 'a client secret of the test'
  const provider = await startIdentityProvider(t, {
    clients: [{ client_id: 'fleet', client_secret: secret, redirect_uris: [callback] }],
  })
  provider.person = 'person-1'
  provider.claims.set('person-1', { preferred_username: 'ines' })
  const made = await api.call('POST', '/organizations', { name: 'red', accessTTL: 6 })
  const organization = JSON.parse(made.text) as { id: number } // as in the API documentation
  const idp = await api.call('POST', '/idps', {
    organization: { id: organization.id },
    baseURL: provider.issuer,
    clientID: 'fleet',
    clientSecret: secret,
  })
  t.equal(idp.status, 201, idp.text)
  const browser = await startBrowser(t)
  const { page, wrongs } = await openPage(t, browser, base, { path: '/caches' })
  const way = page.getByRole('button', { name: 'Log in with provider' })
  const field = page.getByLabel('Organization')

  await field.fill('blue')
  await way.click()
  await page.getByRole('alert').waitFor()
  await field.fill('red')
  await way.click()

  await page.getByText('There is nothing that you may see yet').waitFor()
  await page.getByText('red', { exact: true }).waitFor()
  await keepScreenshot(page, 'nothing-yet')
  t.same(await findBarriers(page), [])
  let renewals = 0
  page.on('response', (answer) => {
    if (answer.url().endsWith('/auth/refresh') && answer.status() === 200) renewals++
  })
  await eventually('the token is renewed before it expires', () => renewals >= 2)
  await page.reload()
  await page.getByText('There is nothing that you may see yet').waitFor()

  const token = { status: 401, json: { traceId: '', errorKey: 'auth', errorMsg: 'it ran out' } }
  let logouts = 0
  // Removed after the logout, so that the interception of requests does not change while the page sends them.
  await page.route('**/auth/logout', (route) =>
    ++logouts === 1 ? route.fulfill(token) : route.fallback(),
  )
  await page.getByRole('button', { name: 'Log out' }).click()
  await field.waitFor()
  await page.unroute('**/auth/logout')
  const left = await api.call('GET', `/sessions?organization.id=${organization.id}`)
  t.equal(left.text, '[]', 'logout ends the session, even with an expired token')

  await t.test('logout waits for a pending renewal', async (t) => {
    const seen: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/logout')) seen.push('logout')
    })
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const renew = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      await released
      seen.push('renewed')
      await route.fulfill({ response })
    }
    await field.fill('red')
    await way.click()
    await page.getByText('There is nothing that you may see yet').waitFor()
    const asked = page.waitForRequest('**/auth/refresh')
    await page.route('**/auth/refresh', renew, { times: 1 })
    await asked
    await page.getByRole('button', { name: 'Log out' }).click()
    // The requests of the click were sent before this one.
    await page.evaluate(() => fetch('/readyz'))
    release()
    await field.waitFor()
    t.same(seen, ['renewed', 'logout'])
    const { text } = await api.call('GET', `/sessions?organization.id=${organization.id}`)
    t.equal(text, '[]')
  })

  await t.test('an unanswered logout ends the session on the page', async (t) => {
    await field.fill('red')
    await way.click()
    await page.getByText('There is nothing that you may see yet').waitFor()
    await page.route('**/auth/logout', () => undefined)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText(/The coordinator could not be reached/).waitFor()
    await field.waitFor()
    t.equal(await page.getByRole('button', { name: 'Log out' }).count(), 0)
  })
  t.same(wrongs, [])
})

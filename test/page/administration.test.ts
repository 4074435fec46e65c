/** The administration in a browser: organizations, permissions of users, tokens that are shown once, and the user's own account. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  findBarriers,
  keepScreenshot,
  logInPage,
  openPage,
  startBrowser,
} from '../support/browser.js'
import { startCoordinator } from '../support/daemon.js'

const hostile = '<img src=x onerror=alert(1)>'
const shopName = 'The shop of an organization with a long name'
const password = 'a long enough one'

/** The views that have rows at the end of the test. */
const titles = [
  'Your account',
  'Organizations',
  'Accounts',
  'Users',
  'Sessions',
  'Join tokens',
  'Identity providers',
  'Webhooks',
]

void t.test('the administration', async (t) => {
  const { base, port, api } = await startCoordinator(t, { words: ['--no-agent'] })
  const make = async (path: string, body: object): Promise<number> => {
    const answer = await api.call('POST', path, body)
    t.equal(answer.status, 201, answer.text)
    return (JSON.parse(answer.text) as { id: number }).id // every created object has one
  }
  const shop = await make('/organizations', { name: shopName })
  const organization = { id: shop }
  const makeAccount = (name: string) =>
    make('/accounts', { name, password, organizations: [organization] })
  const permit = (id: number, type: string, write?: boolean) =>
    make('/permissions', { account: { id }, organization, type, read: true, write })
  const boss = await makeAccount('boss')
  const helper = await makeAccount(hostile)
  const lent = ['session', 'tag', 'account', 'perm']
  const regular = await makeAccount('regular')
  for (const type of lent) await permit(regular, type, type === 'session')
  const browser = await startBrowser(t)
  const open = async (t: Test, path: string, user?: string) => {
    const opened = await openPage(t, browser, base, { path: `/administration${path}` })
    if (user !== undefined) await opened.page.getByLabel('Organization').fill(shopName)
    await logInPage(opened.page, user === undefined ? undefined : { user, password })
    return opened
  }

  await t.test('an organization and its account are created, changed and restored', async (t) => {
    const { page, wrongs } = await open(t, '/organizations')
    await page.getByRole('button', { name: 'New organization' }).click()
    await page.getByLabel('Name', { exact: true }).fill('press')
    await page.getByLabel('Access token lifetime').fill('9000')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByText(/Trace|accessTTL/)
      .first()
      .waitFor()
    await page.getByLabel('Access token lifetime').fill('900')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('cell', { name: 'press', exact: true }).waitFor()

    await page.getByRole('link', { name: 'Accounts', exact: true }).click()
    await page.getByRole('button', { name: 'New account' }).waitFor()
    await page.keyboard.press('n')
    // Typed at once, without waiting until the field is focused.
    await page.keyboard.type('editor')
    await page.getByLabel('Password').fill('short')
    await page.getByRole('checkbox', { name: 'press' }).check()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByText(/5 characters; it must have 12 to/)
      .waitFor()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: 'editor' })
    await row.filter({ hasText: 'press' }).waitFor()

    await page.getByRole('button', { name: 'Edit editor' }).click()
    await page.getByRole('checkbox', { name: /Locked/ }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await row.filter({ hasText: 'Locked' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.filter({ hasText: 'Open' }).waitFor()

    await page.getByRole('button', { name: 'Delete editor' }).click()
    await page.getByLabel('Type “editor” to confirm').fill('editor')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page
      .getByRole('alert')
      .getByText(/last administrator/)
      .waitFor()
    t.same(wrongs, [])
  })

  await t.test('permissions of a user are edited in a grid, saved and restored', async (t) => {
    const { page, wrongs } = await open(t, '/users', 'boss')
    await page.getByRole('link', { name: hostile }).click()
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
    await box('Write Files').check()
    t.ok(await box('Read Files').isChecked(), 'write permission includes read permission')
    await box('Read API log').check()
    await keepScreenshot(page, 'user')
    t.same(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Save the permissions' }).click()
    await page.getByText('Saved.').waitFor()
    const where = `/permissions?account.id=${helper}&sort=type`
    const given = JSON.parse((await api.call('GET', where)).text) as object[]
    t.match(given, [
      { type: 'apilog', write: false },
      { type: 'file', write: true },
    ])

    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    await page.getByRole('button', { name: 'Administrator', exact: true }).click()
    await page.getByText(/^They cannot be changed here: administrators may do everything/).waitFor()
    t.ok(await page.getByRole('checkbox', { name: /^Write Files: admin/ }).isDisabled())
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('May do what the permissions allow.').waitFor()

    t.equal((await api.call('GET', where)).text, '[]')
    t.equal(await page.locator('img').count(), 0)
    t.same(wrongs, [])
  })

  await t.test('undo keeps concurrent changes of other users', async (t) => {
    const { page, wrongs } = await open(t, '/organizations')
    const access = page.getByLabel('Access token lifetime')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await page.getByRole('button', { name: `Edit ${shopName}` }).click()
    await access.fill('800')
    await api.call('PUT', `/organizations/${shop}`, { refreshTTL: 7200 })
    await save.click()
    await page.getByRole('alert').getByText('Somebody else changed it meanwhile').waitFor()
    await keepScreenshot(page, 'changed-meanwhile')
    t.same(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    t.equal(await page.getByLabel('Refresh token lifetime').inputValue(), '7200')
    t.equal(await access.inputValue(), '600')
    await access.fill('800')
    await save.click()
    await page.getByText('Saved.').waitFor()
    await api.call('PUT', `/organizations/${shop}`, { accessTTL: 700 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Not undone: somebody has changed it since').waitFor()
    const kept = await api.call('GET', `/organizations/${shop}`)
    t.match(JSON.parse(kept.text), { accessTTL: 700, refreshTTL: 7200 })

    const tags = await permit(helper, 'tag')
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('checkbox', { name: 'Read Tags', exact: true }).uncheck()
    await api.call('PUT', `/permissions/${tags}`, { write: true })
    await page.getByRole('button', { name: 'Save the permissions' }).click()
    await page.getByText('Somebody changed these permissions meanwhile').waitFor()
    await page.locator('input[aria-label="Write Tags"]:checked').waitFor()
    t.equal((await api.call('DELETE', `/permissions/${tags}`)).status, 204)
    t.same(wrongs, [])
  })

  await t.test('permissions that a user may not grant are disabled, with the reason', async (t) => {
    const { page, wrongs } = await open(t, '/users', 'regular')
    await page.getByRole('link', { name: hostile }).click()
    const reason = /giving permissions needs permission to write permissions/
    await page.getByText(reason).first().waitFor()
    const files = page.getByRole('checkbox', { name: /^Write Files/ })
    t.ok(await files.isDisabled())
    t.match(await files.getAttribute('aria-label'), reason)
    t.equal(await page.getByRole('button', { name: 'Save the permissions' }).count(), 0)

    await page.goto('/administration/tokens')
    await page.getByRole('button', { name: 'New API token' }).click()
    t.ok(await page.getByRole('checkbox', { name: /^Write Tags/ }).isDisabled())
    await page.getByRole('checkbox', { name: 'Read Tags', exact: true }).check()
    await page.getByLabel('Label').fill(hostile)
    await keepScreenshot(page, 'token-form')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const token = await page.getByRole('region', { name: 'Token' }).locator('pre').innerText()
    const headers = { authorization: `Bearer ${token.trim()}` }
    t.equal((await fetch(`${base}/api/v1/tags`, { headers })).status, 200)
    t.equal((await fetch(`${base}/api/v1/accounts`, { headers })).status, 403)
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('dialog').getByRole('status').getByText(/cop/i).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: `Delete ${hostile}` }).click()
    await page.getByLabel(`Type “${hostile}” to confirm`).fill(hostile)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No API tokens yet').waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'main', 'the focus is not lost')
    t.same(wrongs, [])
  })

  await t.test('a join token is shown once, with the commands that enrol a host', async (t) => {
    const { page, wrongs } = await open(t, '/join-tokens')
    await page.getByRole('button', { name: 'New join token' }).click()
    await page.getByLabel('Label').fill('edge')
    await page.getByLabel('Uses').fill('3')
    await page.getByLabel('Tags').fill("web, it's new")
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const token = await page
      .getByRole('region', { name: 'Token', exact: true })
      .locator('pre')
      .innerText()
    const command = await page
      .getByRole('region', { name: /^2\. .* by hand/ })
      .locator('pre')
      .innerText()
    const url = `ws://127.0.0.1:${port}`
    const words = `--coordinator-url ${url} --join-token-file /etc/cachefleet/join-token`
    t.equal(command, String.raw`cachefleetd ${words} --tags 'web,it'\''s new'`)
    t.notMatch(command, token.trim())
    await page
      .getByRole('region', { name: /as a service/ })
      .getByText(`cachefleetd enroll http://127.0.0.1:${port} <<'END'`)
      .waitFor()
    await keepScreenshot(page, 'join-token-made')
    t.same(await findBarriers(page), [])

    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('cell', { name: '0 of 3' }).waitFor()
    t.equal(await page.getByText(token.trim()).count(), 0)
    t.same(wrongs, [])
  })

  await t.test(
    'an identity provider is created; a refused address is reported at its field',
    async (t) => {
      const { page, wrongs } = await open(t, '/providers')
      await page.getByRole('button', { name: 'New identity provider' }).click()
      await page.getByLabel('Organization').selectOption({ label: 'press' })
      await page.getByLabel('Address').fill('http://169.254.169.254/')
      await page.getByLabel('Client', { exact: true }).fill('cachefleet')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByText(/^baseURL/).waitFor()
      await keepScreenshot(page, 'provider-form')
      await page.getByLabel('Address').fill('https://idp.example.com/realms/press')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('cell', { name: 'https://idp.example.com/realms/press' }).waitFor()
      t.same(wrongs, [])
    },
  )

  await t.test('a webhook is created, tested and disabled', async (t) => {
    const received: string[] = []
    const listener = createServer((request, response) => {
      received.push(String(request.url))
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    t.teardown(() => listener.close())
    const { port } = listener.address() as AddressInfo // it listens on TCP
    const { page, wrongs } = await open(t, '/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    await page.getByLabel('Name', { exact: true }).fill(hostile)
    await page.getByLabel('Address').fill('https://169.254.169.254/latest')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText(/link-local/).waitFor()
    await keepScreenshot(page, 'webhook-form')
    t.same(await findBarriers(page), [])
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/a-secret-path`)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('region', { name: 'Secret' }).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('cell', { name: '204' }).waitFor()
    t.same(received, ['/a-secret-path'])
    t.equal(await page.getByText('a-secret-path').count(), 0)
    await keepScreenshot(page, 'webhook')
    t.same(await findBarriers(page), [])

    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('button', { name: `Edit ${hostile}` }).click()
    await page.getByRole('checkbox', { name: 'Events are sent' }).uncheck()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Disabled').waitFor()
    t.same(wrongs, [])
  })

  await t.test('a session of another user is ended, and the own password changed', async (t) => {
    const { page, wrongs } = await open(t, '', 'boss')
    await page.getByLabel('Current password').fill(password)
    await page.getByLabel('New password', { exact: true }).fill(`${password} 2`)
    await page.getByLabel('New password again').fill('another')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('Again must be the same').waitFor()
    await page.getByLabel('New password again').fill(`${password} 2`)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('Log in with the new one').waitFor()
    await page.getByLabel('Organization').fill(shopName)
    await logInPage(page, { user: 'boss', password: `${password} 2` })

    const root = await open(t, '/sessions')
    await root.page.getByRole('button', { name: 'End the session of boss' }).first().click()
    await root.page.getByRole('button', { name: 'End', exact: true }).click()
    await root.page.getByText('Ended.').waitFor()

    t.equal((await api.call('GET', `/sessions?account.id=${boss}`)).text, '[]')
    const own = root.page.getByRole('row').filter({ hasText: 'This browser' })
    t.equal(await own.count(), 1)
    await own.getByRole('button').click()
    await root.page.getByRole('button', { name: 'Log out', exact: true }).last().click()
    await root.page.getByLabel('Password').waitFor()
    await root.page.reload()
    await root.page.getByLabel('Password').waitFor()
    t.same([...wrongs, ...root.wrongs], [])
  })

  await t.test('every view is accessible: light and dark, wide and narrow', async (t) => {
    const { page, wrongs } = await open(t, '')
    const looks = [
      { width: 1280, colorScheme: 'light' },
      { width: 390, colorScheme: 'dark' },
    ] as const
    for (const [at, title] of titles.entries()) {
      const { width, colorScheme } = looks[at % 2] ?? looks[0]
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await page.getByRole('link', { name: title, exact: true }).click()
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      const shown = at === 0 ? page.getByText('Who you are') : page.getByRole('row').nth(1)
      await shown.waitFor()
      await keepScreenshot(page, `administration-${title.replace(' ', '-')}-${colorScheme}`)
      t.same(await findBarriers(page), [], title)
      const isWide = 'document.documentElement.scrollWidth > innerWidth'
      t.equal(await page.evaluate(isWide), false, `nothing sticks out of ${title}`)
    }
    t.same(wrongs, [])
  })
})

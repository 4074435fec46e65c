/** Organizations, accounts, users and permissions as API callers see them, on any store (docs/behaviour.md, Organizations). */
import type { Test } from 'tap'
import { idOf, ids, password, rows, startTenants, type Tenants } from './people.js'

export interface WhoOptions {
  readonly storeUrl: () => Promise<string>
}

export function whoContract(t: Test, { storeUrl }: WhoOptions): void {
  const start = async (t: Test): Promise<Tenants> => startTenants(t, { storeUrl: await storeUrl() })

  void t.test('an organization follows the conventions of every resource', async (t) => {
    const { system } = await start(t)
    const made = await system.call(201, 'POST', '/organizations', { Name: 'red' })
    const at = `/organizations/${idOf(made)}`
    t.match(made, { name: 'red', accessTTL: 600, refreshTTL: 3600, locked: false, created: /Z$/ })
    t.same(await system.call(200, 'GET', at), made)
    t.same(
      { ...(await system.call(200, 'PUT', at, made)), updated: '' },
      { ...made, updated: '' },
      'the body of GET can be PUT back',
    )
    t.match(await system.call(200, 'PUT', at, { accessTTL: 60 }), { accessTTL: 60, name: 'red' })
    t.match(await system.call(200, 'PUT', at, { accessTTL: null }), { accessTTL: 600 })
    for (const body of [
      { accessTTL: 0 },
      { refreshTTL: 31_536_001 },
      { accessTTL: 3601 },
      { refreshTTL: 599 },
      { accessTTL: '60' },
      { name: '' },
      { name: null },
      { name: 'a\nb' },
      { id: 99 },
      { bogus: 1 },
    ])
      t.match(await system.call(400, 'PUT', at, body), { errorKey: 'organization' })
    t.match(await system.call(409, 'POST', '/organizations', { name: 'red' }), {
      errorMsg: /taken/,
    })
    await system.call(201, 'POST', '/organizations', { name: 'Red' })
    t.same(await ids(system.call, '/organizations?name=red&accessTTL=6*&locked=false'), [
      idOf(made),
    ])
    await system.call(204, 'DELETE', at)
    t.match(await system.call(404, 'GET', at), { errorMsg: /was not found/ })
  })

  void t.test('an organization without objects is deleted with its users and tokens', async (t) => {
    const { system, addPerson, makeOrganization, controller } = await start(t)
    const red = await makeOrganization('red')
    const anna = await addPerson('anna', 'red')
    const tag = await anna.call(201, 'POST', '/tags', { name: 'web' })
    await anna.call(201, 'POST', '/jointokens', { label: 'edge' })
    t.match(await system.call(409, 'DELETE', `/organizations/${red}`), { errorMsg: /1 tags/ })
    await anna.call(204, 'DELETE', `/tags/${idOf(tag)}`)

    await system.call(204, 'DELETE', `/organizations/${red}`)

    controller.advance(4_900)
    await anna.call(401, 'GET', '/auth/whoami')
    t.match(await system.call(200, 'GET', `/accounts/${anna.id}`), { organizations: [] })
    t.same(await ids(system.call, '/users'), [])
  })

  void t.test('tokens have the lifetimes of their organization', async (t) => {
    const { makeOrganization, addPerson, login, system, controller } = await start(t)
    const red = await makeOrganization('red', { accessTTL: 60, refreshTTL: 120 })
    await addPerson('anna', 'red')

    const { body } = await login('anna', 'red')
    await system.call(200, 'PUT', `/organizations/${red}`, { accessTTL: 30 })
    const refreshed = await controller.call('POST', '/api/v1/auth/refresh', {
      headers: { authorization: `Refresh ${String(body['refreshToken'])}` },
    })

    const now = Math.floor(controller.service.now() / 1000)
    t.ok(Math.abs(Number(body['accessExpire']) - now - 60) < 20)
    t.ok(Math.abs(Number(body['refreshExpire']) - now - 120) < 20)
    t.equal(refreshed.status, 200)
    t.ok(Math.abs(Number(refreshed.body['accessExpire']) - now - 30) < 20)
  })

  void t.test('a login selects an organization and gets the rights held there', async (t) => {
    const { makeOrganization, addPerson, openSession, login, system } = await start(t)
    const red = await makeOrganization('red')
    const blue = await makeOrganization('blue')
    const anna = await addPerson('anna', 'red')
    const bert = await addPerson('bert', 'blue')
    await system.call(200, 'PUT', `/organizations/${blue}/assign`, { account: { id: anna.id } })
    await system.call(200, 'PUT', `/organizations/${blue}/assign`, { account: { id: anna.id } })

    const inBlue = await openSession('anna', 'blue')

    t.match(await anna.call(200, 'GET', '/auth/whoami'), {
      account: { id: anna.id, name: 'anna' },
      organization: { id: red, name: 'red' },
      role: 'administrator',
    })
    t.match(await inBlue.call(200, 'GET', '/auth/whoami'), {
      organization: { id: blue },
      role: 'regular',
      permissions: [],
    })
    const refused = await Promise.all([
      login('anna'),
      login('anna', 'green'),
      login('bert', 'red'),
      login('anna', 'red', 'another long word'),
      login('root', 'red', 'correct horse battery'),
    ])
    for (const { status } of refused) t.equal(status, 401)
    t.equal(new Set(refused.map(({ body }) => body['errorMsg'])).size, 1, 'all messages are equal')
    await system.call(200, 'PUT', `/organizations/${red}`, { locked: true })
    t.equal((await login('anna', 'red')).status, 401)
    await bert.call(200, 'GET', '/auth/whoami')
  })

  void t.test('an administrator reads only its own organization and changes none', async (t) => {
    const { makeOrganization, addPerson } = await start(t)
    const red = await makeOrganization('red')
    const blue = await makeOrganization('blue')
    const anna = await addPerson('anna', 'red')

    t.same(await ids(anna.call, '/organizations'), [red])
    await anna.call(200, 'GET', `/organizations/${red}`)
    const account = { account: { id: anna.id } }
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { locked: true }],
      ['DELETE', '', undefined],
      ['PUT', '/assign', account],
      ['PUT', '/unassign', account],
    ] as const) {
      await anna.call(404, method, `/organizations/${blue}${path}`, body)
      if (method !== 'GET') await anna.call(403, method, `/organizations/${red}${path}`, body)
    }
    await anna.call(403, 'POST', '/organizations', { name: 'green' })
  })

  void t.test('an account follows the conventions and never shows its password', async (t) => {
    const { makeOrganization, addPerson, login, openSession } = await start(t)
    const red = await makeOrganization('red')
    const anna = await addPerson('anna', 'red')
    const made = await anna.call(201, 'POST', '/accounts', {
      name: 'bert',
      password,
      email: 'bert@example.com',
      systemAdministrator: true,
    })
    const at = `/accounts/${idOf(made)}`

    t.same(Object.keys(made).sort(), [
      ...['created', 'email', 'id', 'locked', 'name', 'organizations'],
      ...['systemAdministrator', 'updated'],
    ])
    t.match(made, {
      organizations: [{ id: red, name: 'red' }],
      systemAdministrator: false,
      locked: false,
    })
    t.match(await anna.call(200, 'PUT', at, made), { name: 'bert', email: 'bert@example.com' })
    t.match(await anna.call(200, 'PUT', at, { email: null }), { email: '' })
    for (const body of [
      { password: 'eleven char' },
      { password: null },
      { password: 'x'.repeat(1025) },
      { name: 'a:b' },
      { name: '' },
      { email: 'nobody' },
      { email: 'a b@c' },
      { role: 'administrator' },
      { passwordHash: 'x' },
      { __proto__: null, constructor: 1 },
    ])
      t.match(await anna.call(400, 'PUT', at, body), { errorKey: 'account' })
    await anna.call(400, 'POST', '/accounts', { name: 'carl' })
    t.match(await anna.call(409, 'POST', '/accounts', { name: 'bert', password }), {
      errorMsg: /whole store/,
    })
    const bert = await openSession('bert', 'red')
    await anna.call(200, 'PUT', at, { password: 'another long word' })
    t.equal((await login('bert', 'red')).status, 401)
    await bert.call(401, 'GET', '/auth/whoami')
    t.same(await ids(anna.call, '/accounts?name=b*&locked=false&organizations.name=red'), [
      idOf(made),
    ])
    await anna.call(204, 'DELETE', at)
    await anna.call(404, 'GET', at)
  })

  void t.test(
    'each organization of a shared account sees only itself; the system administrator changes it',
    async (t) => {
      const { makeOrganization, addPerson, system } = await start(t)
      const red = await makeOrganization('red')
      const blue = await makeOrganization('blue')
      const anna = await addPerson('anna', 'red')
      const bert = await addPerson('bert', 'blue')
      const both = await anna.call(201, 'POST', '/accounts', { name: 'both', password })
      const at = `/accounts/${idOf(both)}`
      await bert.call(404, 'GET', at)
      const changed = await system.call(200, 'PUT', at, {
        organizations: [{ id: red }, { id: blue }],
      })

      t.match(changed, { organizations: [{ name: 'red' }, { name: 'blue' }] })
      for (const [person, name] of [
        [anna, 'red'],
        [bert, 'blue'],
      ] as const) {
        t.match(await person.call(200, 'GET', at), { organizations: [{ name }] })
        t.same(await ids(person.call, '/accounts?name=both&organizations.name=*'), [idOf(both)])
        for (const body of [{ locked: true }, { password }, { name: 'x' }, {}])
          t.match(await person.call(403, 'PUT', at, body), { errorKey: 'account' })
        await person.call(403, 'DELETE', at)
      }
      t.same(await ids(anna.call, '/accounts?organizations.name=blue'), [])
      t.same(await ids(anna.call, `/accounts?organizations.id=${blue}`), [])
      await system.call(200, 'PUT', at, { organizations: [{ id: red }] })
      await bert.call(404, 'GET', at)
      await anna.call(403, 'PUT', at, { organizations: [{ id: blue }] })
      await anna.call(403, 'PUT', at, { organizations: [] })
      await anna.call(200, 'PUT', at, { organizations: [{ id: red }], email: 'both@example.com' })
      await anna.call(403, 'POST', '/accounts', {
        name: 'x',
        password,
        organization: { id: blue },
      })
      await system.call(400, 'PUT', at, { organizations: [{ id: 999 }] })
    },
  )

  void t.test('a user changes roles, leaves and returns', async (t) => {
    const { makeOrganization, addPerson, system } = await start(t)
    const red = await makeOrganization('red')
    const anna = await addPerson('anna', 'red')
    const made = await anna.call(201, 'POST', '/accounts', { name: 'bert', password })
    const account = { id: idOf(made) }
    const [bert] = rows(await anna.call(200, 'GET', '/users?account.name=bert'))
    const at = `/users/${idOf(bert)}`

    t.match(bert, { account: { name: 'bert' }, organization: { id: red }, role: 'regular' })
    t.match(await anna.call(200, 'PUT', at, { ...bert, role: 'administrator' }), {
      role: 'administrator',
    })
    t.match(await anna.call(200, 'PUT', at, { role: null }), { role: 'regular' })
    for (const body of [{ role: 'system' }, { account: { id: anna.id } }, { read: true }])
      t.match(await anna.call(400, 'PUT', at, body), { errorKey: 'user' })
    await anna.call(409, 'POST', '/users', { account })
    await anna.call(204, 'DELETE', at)
    await anna.call(404, 'GET', at)
    t.match(await anna.call(200, 'GET', `/accounts/${account.id}`), { organizations: [] })
    t.match(await anna.call(201, 'POST', '/users', { account }), { role: 'regular' })
    t.match(await anna.call(400, 'POST', '/users', { account: { id: 999 } }), {
      errorMsg: /account/,
    })
    t.match(await system.call(400, 'POST', '/users', { account }), { errorMsg: /organization/ })
    t.match(
      await system.call(409, 'POST', '/users', {
        account: { id: system.id },
        organization: { id: red },
      }),
      { errorMsg: /system administrator/ },
    )
    t.equal(rows(await system.call(200, 'GET', '/users?role=regular')).length, 1)
  })

  void t.test('the last administrator cannot be removed', async (t) => {
    const { makeOrganization, addPerson, system, controller } = await start(t)
    const red = await makeOrganization('red')
    const anna = await addPerson('anna', 'red')
    await addPerson('bert', 'red')
    const [user] = rows(await anna.call(200, 'GET', '/users?account.name=anna'))
    const remove: (readonly [string, string, unknown])[] = [
      ['PUT', `/users/${idOf(user)}`, { role: 'regular' }],
      ['DELETE', `/users/${idOf(user)}`, undefined],
      ['DELETE', `/accounts/${anna.id}`, undefined],
    ]
    for (const [method, path, body] of [
      ...remove,
      ['PUT', `/accounts/${anna.id}`, { locked: true }],
    ] as const)
      t.match(await anna.call(409, method, path, body), { errorMsg: /last administrator/ })
    for (const [method, path, body] of remove) await system.call(409, method, path, body)
    await system.call(409, 'PUT', `/organizations/${red}/unassign`, { account: { id: anna.id } })
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { locked: true }],
    ] as const)
      t.match(await system.call(409, method, `/accounts/${system.id}`, body), {
        errorMsg: /last system administrator/,
      })
    const [other] = rows(await anna.call(200, 'GET', '/users?account.name=bert'))
    await anna.call(200, 'PUT', `/users/${idOf(other)}`, { role: 'administrator' })

    const left = await Promise.all(
      [user, other].map((each) =>
        controller.call('DELETE', `/api/v1/users/${idOf(each)}`, { token: system.token }),
      ),
    )

    t.same(left.map(({ status }) => status).sort(), [204, 409], 'one of two at once is refused')
  })
}

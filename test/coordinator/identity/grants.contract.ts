/** What regular users and API tokens may do, who may grant it, and how soon a change takes effect (docs/behaviour.md, Permissions). */
import type { Test } from 'tap'
import { permissionTypes } from '../../../src/resources/permission.js'
import {
  idOf,
  ids,
  password,
  rows,
  startTenants,
  type Json,
  type Person,
  type Tenants,
} from './people.js'

interface GrantOptions {
  readonly storeUrl: () => Promise<string>
}

interface Seeded extends Tenants {
  readonly red: number
  readonly blue: number
  /** The administrator of red, and a regular user there. */
  readonly anna: Person
  readonly bert: Person
  /** Anna grants bert a permission, and it takes effect; returns its id. */
  readonly allow: (type: string, write?: boolean) => Promise<number>
}

/** For each type a list that needs its permission. */
const paths: Readonly<Record<string, string>> = {
  vclgroup: '/vclgroups',
  deployment: '/deployments',
  file: '/files',
  domain: '/domains',
  tag: '/tags',
  agent: '/agents',
  org: '/organizations',
  account: '/accounts',
  perm: '/permissions',
  session: '/sessions',
  apilog: '/apilogs',
}

/** docs/behaviour.md, Tokens: rights are cached for less than 5 s, also where no hint arrives. */
const believedMs = 4_900

export function grantContract(t: Test, { storeUrl }: GrantOptions): void {
  const start = async (t: Test): Promise<Seeded> => {
    const tenants = await startTenants(t, { storeUrl: await storeUrl() })
    const red = await tenants.makeOrganization('red')
    const blue = await tenants.makeOrganization('blue')
    const anna = await tenants.addPerson('anna', 'red')
    const bert = await tenants.addPerson('bert', 'red')
    return {
      ...tenants,
      red,
      blue,
      anna,
      bert,
      allow: async (type, write = false) => {
        const account = { id: bert.id }
        const made = await anna.call(201, 'POST', '/permissions', { account, type, write })
        tenants.controller.advance(believedMs)
        return idOf(made)
      },
    }
  }

  void t.test('read permission on a type opens its lists and nothing else', async (t) => {
    const { bert, allow } = await start(t)
    for (const path of [...Object.values(paths), '/users']) await bert.call(403, 'GET', path)
    await bert.call(403, 'GET', '/jointokens')

    for (const type of Object.keys(paths)) await allow(type)

    for (const path of [...Object.values(paths), '/users'])
      t.ok(Array.isArray(await bert.call(200, 'GET', path)), path)
    for (const path of [
      '/tags',
      '/files',
      '/deployments',
      '/accounts',
      '/permissions',
      '/sessions',
    ])
      await bert.call(403, 'POST', path, {})
    await bert.call(403, 'GET', '/jointokens')
  })

  void t.test('a permission follows the conventions; write implies read', async (t) => {
    const { anna, bert, allow, system, red } = await start(t)
    const id = await allow('tag', true)
    const at = `/permissions/${id}`
    const made = await anna.call(200, 'GET', at)

    t.match(made, {
      account: { id: bert.id, name: 'bert' },
      organization: { id: red, name: 'red' },
      type: 'tag',
      read: true,
      write: true,
    })
    t.match(await anna.call(200, 'PUT', at, { ...made, read: false }), { read: true, write: true })
    t.match(await anna.call(200, 'PUT', at, { write: null }), { read: true, write: false })
    const account = { id: bert.id }
    for (const body of [
      { read: false },
      { account: { id: anna.id } },
      { type: 'file' },
      { type: 'everything' },
      { access: 'write' },
    ])
      t.match(await anna.call(400, 'PUT', at, body), { errorKey: 'permission' })
    for (const body of [
      { account },
      { account, type: 'Tag' },
      { account, type: 'file', read: false },
      { account: { id: 999 }, type: 'file' },
      { account: { id: system.id }, type: 'file' },
    ])
      t.match(await anna.call(400, 'POST', '/permissions', body), { errorKey: 'permission' })
    await anna.call(409, 'POST', '/permissions', { account, type: 'tag' })
    t.match(await system.call(400, 'POST', '/permissions', { account, type: 'file' }), {
      errorMsg: /organization/,
    })
    await system.call(201, 'POST', '/permissions', {
      account,
      type: 'file',
      organization: { id: red },
    })
    t.same(await ids(anna.call, '/permissions?type=tag&write=false&account.name=bert'), [id])
    await anna.call(204, 'DELETE', at)
    await anna.call(404, 'GET', at)
  })

  void t.test('a user cannot grant more than it holds', async (t) => {
    const { anna, bert, allow, openSession } = await start(t)
    await allow('account', true)
    const carl = await anna.call(201, 'POST', '/accounts', { name: 'carl', password })
    const carlId = idOf(carl)
    const role = 'administrator'
    const [annaUser, carlUser] = rows(
      await anna.call(200, 'GET', '/users?account.name=anna,carl'),
    ).map(idOf)
    await bert.call(403, 'POST', '/permissions', { account: { id: bert.id }, type: 'file' })
    for (const [method, path, body] of [
      ['PUT', `/users/${String(carlUser)}`, { role }],
      ['PUT', `/users/${String(annaUser)}`, { role: 'regular' }],
      ['DELETE', `/users/${String(annaUser)}`, undefined],
      ['PUT', `/accounts/${anna.id}`, { password: 'another long word' }],
      ['PUT', `/accounts/${anna.id}`, { locked: true }],
      ['PUT', `/accounts/${anna.id}`, { name: 'bert-was-here' }],
      ['PUT', `/accounts/${anna.id}`, { email: 'bert@example.com' }],
      ['DELETE', `/accounts/${anna.id}`, undefined],
    ] as const)
      t.match(await bert.call(403, method, path, body), { errorMsg: /write perm/ })
    await bert.call(200, 'PUT', `/accounts/${carlId}`, { password: 'carl has a new one' })
    await anna.call(201, 'POST', '/permissions', { account: { id: carlId }, type: 'file' })
    await bert.call(403, 'PUT', `/accounts/${carlId}`, { password: 'bert would be carl' })
    await bert.call(200, 'PUT', `/accounts/${carlId}`, { email: 'carl@example.com' })
    await openSession('carl', 'red', 'carl has a new one')

    await allow('perm', true)
    t.match(await bert.call(200, 'PUT', `/users/${String(carlUser)}`, { role }), { role })
    await bert.call(201, 'POST', '/permissions', { account: { id: bert.id }, type: 'file' })
  })

  void t.test('write permission on perm is enough to grant oneself the rest', async (t) => {
    const { bert, allow } = await start(t)
    await allow('perm', true)

    const own = { account: { id: bert.id }, type: 'file', write: true }
    t.match(await bert.call(201, 'POST', '/permissions', own), { read: true, write: true })
    await bert.call(200, 'GET', '/files')
  })

  void t.test('an API token has at most its maker’s rights and cannot make tokens', async (t) => {
    const { anna, bert, allow, as, controller } = await start(t)
    await allow('session', true)
    await allow('tag')
    const expire = Math.floor(controller.service.now() / 1000) + 3600
    const wanted = (...permissions: Json[]): Json => ({ label: 'ci', expire, permissions })
    const readTags = { type: 'tag', read: true }
    const made = await bert.call(201, 'POST', '/sessions', wanted(readTags))

    t.same(Object.keys(made).sort(), ['accessExpire', 'accessToken', 'id', 'label'])
    t.match(made, { label: 'ci', accessExpire: expire })
    const token = as(String(made['accessToken']))
    await token(200, 'GET', '/tags')
    await token(403, 'POST', '/tags', { name: 'x' })
    await token(403, 'GET', '/sessions')
    t.match(await token(200, 'GET', '/auth/whoami'), {
      account: { name: 'bert' },
      role: 'regular',
      permissions: [{ type: 'tag', read: true, write: false }],
    })
    for (const permission of [
      { type: 'tag', write: true },
      { type: 'file', read: true },
    ])
      t.match(await bert.call(403, 'POST', '/sessions', wanted(permission)), {
        errorKey: 'session',
        errorMsg: new RegExp(permission.type),
      })
    const year = 365 * 24 * 3600
    for (const body of [
      { ...wanted(readTags), expire: expire - 7200 },
      { ...wanted(readTags), expire: expire + year },
      { ...wanted(readTags), expire: String(expire) },
      wanted(),
      wanted({ type: 'tag' }),
      wanted({ type: 'all', read: true }),
      { ...wanted(readTags), label: '' },
      { label: 'ci', permissions: [readTags] },
    ])
      t.match(await bert.call(400, 'POST', '/sessions', body), { errorKey: 'session' })
    t.match(await bert.call(400, 'POST', '/sessions', { ...wanted(readTags), label: 'a\nb' }), {
      errorMsg: /^label: /,
    })
    await bert.call(201, 'POST', '/sessions', { ...wanted(readTags), label: 'again', id: 1 })

    const all = permissionTypes.map((type) => ({ type, read: true, write: true }))
    const whole = await anna.call(201, 'POST', '/sessions', wanted(...all))
    const wholeToken = as(String(whole['accessToken']))
    t.match(await wholeToken(403, 'POST', '/sessions', wanted(readTags)), {
      errorMsg: /cannot make tokens/,
    })
    const [listed] = rows(await anna.call(200, 'GET', '/sessions?label=ci&account.name=bert'))
    t.match(listed, {
      id: made['id'],
      refreshExpire: null,
      permissions: [{ type: 'tag', read: true, write: false }],
    })
    t.equal(rows(await anna.call(200, 'GET', '/sessions?refreshExpire=null&label=ci')).length, 2)
    await anna.call(204, 'DELETE', `/sessions/${String(made['id'])}`)
    controller.advance(believedMs)
    await token(401, 'GET', '/tags')
  })

  void t.test('an API token loses the rights that its maker loses', async (t) => {
    const { anna, bert, allow, as, controller } = await start(t)
    await allow('session', true)
    const permission = await allow('tag', true)
    controller.advance(believedMs)
    const { accessToken } = await bert.call(201, 'POST', '/sessions', {
      label: 'ci',
      expire: Math.floor(controller.service.now() / 1000) + 3600,
      permissions: [{ type: 'tag', write: true }],
    })
    const token = as(String(accessToken))
    await token(201, 'POST', '/tags', { name: 'web' })

    await anna.call(204, 'DELETE', `/permissions/${permission}`)

    controller.advance(believedMs)
    await token(403, 'GET', '/tags')
    await anna.call(200, 'PUT', `/accounts/${bert.id}`, { password: 'a new long password' })
    controller.advance(believedMs)
    await token(401, 'GET', '/tags')
  })

  void t.test('objects of another organization are not found', async (t) => {
    const { anna, bert, addPerson, allow, system } = await start(t)
    const dora = await addPerson('dora', 'blue')
    const permission = await allow('tag')
    const [user] = rows(await anna.call(200, 'GET', '/users?account.name=bert')).map(idOf)
    const [session] = rows(await anna.call(200, 'GET', '/sessions?account.name=bert')).map(idOf)
    for (const [path, body] of [
      [`/accounts/${bert.id}`, { locked: true }],
      [`/users/${String(user)}`, { role: 'administrator' }],
      [`/permissions/${permission}`, { write: true }],
    ] as const) {
      await dora.call(404, 'GET', path)
      await dora.call(404, 'PUT', path, body)
      await dora.call(404, 'DELETE', path)
    }
    await dora.call(404, 'DELETE', `/sessions/${String(session)}`)
    await dora.call(404, 'GET', `/accounts/${system.id}`)
    t.same(await ids(dora.call, '/accounts'), [dora.id])
    t.same(rows(await dora.call(200, 'GET', '/users')).length, 1)
    t.same(await ids(dora.call, '/permissions'), [])
    t.same(rows(await dora.call(200, 'GET', '/sessions?account.name=bert,anna,root')), [])
    for (const [path, body] of [
      ['/users', { account: { id: bert.id } }],
      ['/permissions', { account: { id: bert.id }, type: 'tag' }],
    ] as const)
      t.match(await dora.call(400, 'POST', path, body), { errorMsg: /account: \d+ was not found/ })
  })
}

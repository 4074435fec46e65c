/** Identity providers as API objects, the addresses called for them, and how claims become roles, permissions and names. */
import fc from 'fast-check'
import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { findAddressProblem } from '../../../src/coordinator/identity/provider-address.js'
import {
  createProviderFetch,
  ProviderFault,
} from '../../../src/coordinator/identity/provider-http.js'
import { findAccountNameProblem } from '../../../src/resources/names.js'
import { isSameGrants, permissionTypes } from '../../../src/resources/permission.js'
import {
  chooseAccountNames,
  findClaim,
  readRights,
} from '../../../src/coordinator/identity/provider-claims.js'
import { startServer } from '../../support/identity-provider.js'
import { idOf, ids, startTenants, type Json } from './people.js'

const secret = 'a secret nobody may read'
const right = { baseURL: 'https://idp.example.com/realms/web', clientID: 'fleet' }

void t.test(
  'a provider follows the conventions of every resource; its secret is never returned',
  async (t) => {
    const tenants = await startTenants(t)
    const { system } = tenants
    const red = await tenants.makeOrganization('red')
    const anna = await tenants.addPerson('anna', 'red')
    const made = await anna.call(201, 'POST', '/idps', { ...right, ClientSecret: secret })
    const at = `/idps/${idOf(made)}`

    t.match(made, {
      ...right,
      organization: { id: red, name: 'red' },
      scopes: ['openid', 'profile', 'email'],
      roleClaim: '',
      created: /Z$/,
    })
    t.same(await anna.call(200, 'GET', at), made)
    t.same(await anna.call(200, 'PUT', at, made), made, 'the body of GET can be PUT back')
    const changes: [Json, Json][] = [
      [{ scopes: 'openid roles  roles' }, { scopes: ['openid', 'roles'] }],
      [{ scopes: ['a'] }, { scopes: ['a'] }],
      [{ scopes: null }, { scopes: ['openid', 'profile', 'email'] }],
      [{ roleClaim: 'realm_access.roles' }, { roleClaim: 'realm_access.roles' }],
      [{ roleClaim: null }, { roleClaim: '' }],
      [{ clientID: 'other' }, { clientID: 'other' }],
      [{ clientSecret: null }, {}],
      [{ baseURL: 'http://127.0.0.1:8080' }, { baseURL: 'http://127.0.0.1:8080' }],
      [
        { baseURL: 'https://IDP.example/a/.well-known/openid-configuration', clientSecret: secret },
        { baseURL: 'https://idp.example/a' },
      ],
    ]
    for (const [body, wanted] of changes) t.match(await anna.call(200, 'PUT', at, body), wanted)
    const readSecret = async (): Promise<string | null> => {
      const { queries } = tenants.controller.service.store
      return (await queries.selectFrom('idps').selectAll().executeTakeFirstOrThrow())
        .sealedClientSecret
    }
    await anna.call(200, 'PUT', at, { baseURL: 'https://evil.example' })
    t.equal(await readSecret(), null, 'a secret is never sent to another provider')
    await anna.call(200, 'PUT', at, { baseURL: 'https://idp.example/a', clientSecret: secret })
    for (const body of [
      ...[{ clientID: null }, { clientID: '' }, { clientID: 'a\nb' }, { clientID: 'é' }],
      ...[{ clientSecret: '' }, { clientSecret: 'a\u0000' }, { clientSecret: 7 }],
      ...[{ scopes: ['a b'] }, { scopes: ['"'] }, { scopes: 7 }, { roleClaim: 'ü' }],
      ...[{ baseURL: null }, { baseURL: 7 }, { id: 99 }, { bogus: 1 }],
    ])
      t.match(await anna.call(400, 'PUT', at, body), { errorKey: 'idp' }, JSON.stringify(body))

    t.match(await anna.call(409, 'POST', '/idps', right), { errorMsg: /has an identity provider/ })
    t.match(await system.call(400, 'POST', '/idps', right), { errorMsg: /^organization: / })
    t.same(await ids(anna.call, '/idps?baseURL=https://idp.example/*&sort=id'), [idOf(made)])
    await anna.call(400, 'GET', '/idps?clientSecret=*')

    const sealed = await readSecret()
    t.match(sealed, /^v1\./)
    t.notOk(sealed?.includes(secret))
    await anna.call(204, 'DELETE', at)
    await anna.call(404, 'GET', at)
  },
)

void t.test('a provider of another organization is not visible', async (t) => {
  const tenants = await startTenants(t)
  await tenants.makeOrganization('red')
  await tenants.makeOrganization('blue')
  const anna = await tenants.addPerson('anna', 'red')
  const olaf = await tenants.addPerson('olaf', 'blue')
  const made = await anna.call(201, 'POST', '/idps', right)
  const at = `/idps/${idOf(made)}`

  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', {}],
    ['DELETE', undefined],
  ] as const)
    t.match(await olaf.call(404, method, at, body), { errorKey: 'idp' })
  t.same(await ids(olaf.call, '/idps'), [])
  await olaf.call(403, 'POST', '/idps', { ...right, organization: made['organization'] })
  t.same(await ids(tenants.system.call, '/idps'), [idOf(made)])
})

void t.test('a roleClaim is set or redirected only with write permission on perm', async (t) => {
  const tenants = await startTenants(t)
  const { system } = tenants
  const red = await tenants.makeOrganization('red')
  await tenants.addPerson('anna', 'red')
  const bert = await tenants.addPerson('bert', 'red')
  const permit = (type: string) =>
    system.call(201, 'POST', '/permissions', {
      account: { id: bert.id },
      organization: { id: red },
      type,
      read: true,
      write: true,
    })
  await bert.call(403, 'GET', '/idps')
  await permit('idp')
  const { call } = await tenants.openSession('bert', 'red')

  t.match(await call(403, 'POST', '/idps', { ...right, roleClaim: 'roles' }), {
    errorKey: 'idp',
    errorMsg: /write permission on perm/,
  })
  const made = await call(201, 'POST', '/idps', right)
  const at = `/idps/${idOf(made)}`
  await call(403, 'PUT', at, { roleClaim: 'roles' })
  await system.call(200, 'PUT', at, { roleClaim: 'roles' })
  await call(403, 'PUT', at, { baseURL: 'https://mine.example' })
  await call(403, 'PUT', at, { clientSecret: secret })
  t.match(await call(200, 'PUT', at, await call(200, 'GET', at)), { id: idOf(made) })
  await call(200, 'PUT', at, { roleClaim: null })
  await permit('perm')
  await (await tenants.openSession('bert', 'red')).call(200, 'PUT', at, { roleClaim: 'roles' })
})

void t.test(
  'Network: OIDC URLs to link-local, metadata, IPv6-mapped addresses; http on loopback only',
  async (t) => {
    const tenants = await startTenants(t)
    await tenants.makeOrganization('red')
    const anna = await tenants.addPerson('anna', 'red')
    const at = `/idps/${idOf(await anna.call(201, 'POST', '/idps', right))}`

    for (const baseURL of [
      'https://idp.example.com',
      'https://10.1.2.3:8443/x',
      'https://[fd00::1]/',
      'https://127.0.0.1',
      'http://127.0.0.1:3000',
      'http://127.1.2.3/x',
      'http://[::1]:3000',
      'http://localhost:3000',
      'http://idp.localhost',
    ])
      await anna.call(200, 'PUT', at, { baseURL })
    for (const baseURL of [
      '',
      'idp.example.com',
      '/x',
      'http://idp.example.com',
      'http://10.1.2.3/',
      'http://127.0.0.1.example.com',
      'ftp://127.0.0.1',
      'file:///etc/passwd',
      'gopher://127.0.0.1',
      'javascript:alert(1)',
      'https://user@idp.example.com',
      'https://:word@idp.example.com',
      'https://idp.example.com?x=1',
      'https://idp.example.com#x',
      'https://idp.example.com/.well-known/openid-configuration/x',
      'https://169.254.169.254/latest',
      'http://169.254.169.254/',
      'https://169.254.0.1',
      'https://2852039166/',
      'https://0xA9FEA9FE/',
      'https://0251.0376.0251.0376/',
      'https://169.254.43518/',
      'https://１６９.254.169.254/',
      'https://[::ffff:169.254.169.254]/',
      'https://[::ffff:a9fe:a9fe]/',
      'https://[::a9fe:a9fe]/',
      'https://[64:ff9b::169.254.169.254]/',
      'https://[2002:a9fe:a9fe::1]/',
      'https://[fe80::1]/',
      'https://[fd00:ec2::254]/',
      'https://100.100.100.200/',
      'https://168.63.129.16/',
      'https://0.0.0.0/',
      'http://0/',
      'https://[::]/',
      'https://224.0.0.1/',
      'https://255.255.255.255/',
      'https://metadata.google.internal/',
      'https://METADATA.google.internal./',
      'https://instance-data/',
      `https://idp.example.com/${'x'.repeat(2000)}`,
    ])
      t.match(
        await anna.call(400, 'PUT', at, { baseURL }),
        { errorKey: 'idp', errorMsg: /^baseURL: / },
        baseURL,
      )
  },
)

void t.test(
  'Network: DNS rebinding: a name is asked at each call, and the address that was checked is called',
  async (t) => {
    let asked = 0
    const { base, server } = await startServer(t, (request, response) => {
      asked++
      response.writeHead(200, { 'content-type': 'application/json' })
      request.pipe(response)
    })
    const { port } = new URL(base)
    const fetchAs = (url: string, addresses: readonly string[]): Promise<Response> => {
      const found: LookupAddress[] = addresses.map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }))
      const call = createProviderFetch((_name, _options, done) => {
        done(null, found)
      })
      return call(url, { method: 'POST', headers: {}, body: new URLSearchParams({ a: 'b c' }) })
    }
    t.equal(await (await fetchAs(`http://idp.localhost:${port}/x`, ['127.0.0.1'])).text(), 'a=b+c')
    t.equal(asked, 1)

    const refused: [string, string[]][] = [
      [`https://idp.example:${port}`, ['169.254.169.254']],
      [`https://idp.example:${port}`, ['127.0.0.1', '169.254.169.254']],
      [`https://idp.example:${port}`, ['::ffff:a9fe:a9fe']],
      [`https://idp.example:${port}`, ['64:ff9b::a9fe:a9fe']],
      [`https://idp.example:${port}`, ['fe80::1%lo']],
      [`https://idp.example:${port}`, ['0.0.0.0']],
      [`http://idp.localhost:${port}`, ['10.0.0.1']],
      [`http://idp.localhost:${port}`, ['127.0.0.1', '93.184.216.34']],
      [`http://idp.localhost:${port}`, []],
      [`http://idp.example:${port}`, ['127.0.0.1']],
      [`http://169.254.169.254:${port}`, ['127.0.0.1']],
      [`https://127.0.0.1:${port}`, ['127.0.0.1']],
    ]
    for (const [url, addresses] of refused)
      await t.rejects(fetchAs(url, addresses), ProviderFault, `${url} ${addresses.join()}`)
    t.equal(asked, 1, 'the last call fails in the TLS handshake, as the server has no TLS')
    server.close()
  },
)

void t.test('the IPv4 address inside an IPv6 address is found in every spelling', (t) => {
  const v4 = fc.ipV4().map((text) => text.split('.').map(Number))
  const property = fc.property(v4, ([a = 0, b = 0, c = 0, d = 0]) => {
    const plain = [a, b, c, d].join('.')
    const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
    const problem = findAddressProblem(plain, 'https:')
    for (const form of [
      `::ffff:${plain}`,
      `::ffff:${hex}`,
      `64:ff9b::${hex}`,
      `64:ff9b::${plain}`,
      `2002:${hex}::1`,
    ])
      if (findAddressProblem(form, 'https:') !== problem) throw new Error(`${plain} ${form}`)
    const isLoopback = a === 127
    if ((findAddressProblem(plain, 'http:') === null) !== isLoopback) throw new Error(plain)
  })

  fc.assert(property, {
    examples: [[[169, 254, 1, 2]], [[127, 0, 0, 1]], [[100, 100, 100, 200]], [[0, 0, 0, 0]]],
  })
  t.end()
})

void t.test('a login finds an organization by any permitted name', async (t) => {
  const { system, controller } = await startTenants(t)
  for (const name of ['callback', 'token', '.', '..'])
    t.match(await system.call(400, 'POST', '/organizations', { name }), {
      errorKey: 'organization',
      errorMsg: /^name: .*use another name$/,
    })
  for (const name of [
    ...['Callback', 'token ', '...', 'a/b', 'a%2Fb', '%2e', 'a?b#c', 'a b+c', '*', ':organization'],
    ...['red;x=1', '\\', '{organization}', '日'.repeat(255), '𝒳'.repeat(255)],
  ]) {
    const organization = await system.call(201, 'POST', '/organizations', { name })
    const baseURL = 'http://127.0.0.1:9'
    await system.call(201, 'POST', '/idps', { ...right, baseURL, organization })
    const path = `/api/v1/auth/oidc/${encodeURIComponent(name)}`
    const { status, body } = await controller.call('GET', path)
    t.match({ status, ...body }, { status: 503, errorMsg: /provider/ }, name.slice(0, 20))
  }
  const [named] = await ids(system.call, '/organizations?name=a/b')
  await system.call(400, 'PUT', `/organizations/${String(named)}`, { name: 'callback' })
})

void t.test('claims map to a role, permissions and valid account names', (t) => {
  const words = fc.oneof(
    fc.constantFrom('administrator', 'regular', 'Administrator', '', ':', 'tag', 'tag:', ':read'),
    fc
      .tuple(fc.constantFrom(...permissionTypes, 'bogus'), fc.constantFrom('read', 'write', 'all'))
      .map(([type, access]) => `${type}:${access}`),
  )
  const property = fc.property(fc.array(words), (roles) => {
    const { role, grants } = readRights({ roles }, 'roles')
    if ((role === 'administrator') !== roles.includes('administrator')) throw new Error(role)
    for (const type of permissionTypes) {
      const wanted = roles.includes(`${type}:write`)
        ? 'write'
        : roles.includes(`${type}:read`)
          ? 'read'
          : undefined
      if (grants[type] !== wanted) throw new Error(type)
    }
    if (!isSameGrants(grants, readRights({ a: { b: roles } }, 'a.b').grants))
      throw new Error('path')
  })
  const names = fc.property(
    fc.record({ preferred_username: fc.anything(), email: fc.anything() }),
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
    (claims, subject, organization) => {
      const all = [...chooseAccountNames(claims, subject, organization)]
      const wrong = all.find((name) => findAccountNameProblem(name) !== null)
      if (wrong !== undefined || all.length !== 101) throw new Error(JSON.stringify(wrong))
      if (new Set(all).size !== all.length) throw new Error('one of them twice')
    },
  )

  fc.assert(property)
  fc.assert(names, { numRuns: 100 })
  t.equal(findClaim({ 'a.b': 1, a: { b: 2 } }, 'a.b'), 1, 'the exact name precedes the path')
  for (const name of ['__proto__', 'constructor', 'a.constructor', 'a.b.c', 'toString.length'])
    t.equal(findClaim({ a: { b: 'x' } }, name), undefined, name)
  t.end()
})

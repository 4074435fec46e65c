/** Quotas of an organization as API callers see them, on any store. */
import type { Test } from 'tap'
import { idOf, password, rows, startTenants, type Tenants } from './people.js'
import type { WhoOptions } from './who.contract.js'

export function quotasContract(t: Test, { storeUrl }: WhoOptions): void {
  const start = async (t: Test): Promise<Tenants> => startTenants(t, { storeUrl: await storeUrl() })

  void t.test('the system administrator replaces quotas as a whole; users read them', async (t) => {
    const { system, addPerson, makeOrganization } = await start(t)
    const at = `/organizations/${await makeOrganization('red', { quotas: { files: 1 } })}`
    const anna = await addPerson('anna', 'red')
    t.match(await anna.call(200, 'GET', at), { quotas: { files: 1 } })
    await anna.call(403, 'PUT', at, { quotas: null })
    const quotas = { fileBytes: 2 ** 40, webhooks: 0, certificates: 1 }
    const written = await system.call(200, 'PUT', at, { quotas: { ...quotas, Tags: 1 } })
    t.same(written['quotas'], { ...quotas, tags: 1 }, 'omitted quotas have their defaults')
    t.same((await system.call(200, 'PUT', at, { locked: false }))['quotas'], written['quotas'])
    for (const wrong of [{ files: -1 }, { files: 1.5 }, { files: 1_000_001 }, { bogus: 1 }, 5])
      t.match(await system.call(400, 'PUT', at, { quotas: wrong }), { errorKey: 'organization' })
    await system.call(400, 'PUT', at, { quotas: { files: null } })

    await anna.call(201, 'POST', '/tags', { name: 'web' })
    t.match(await anna.call(409, 'POST', '/tags', { name: 'db' }), {
      errorKey: 'tag',
      errorMsg: /^organization "red" has its quota of 1 tags; delete some, or ask the system/,
    })
    t.match(await anna.call(409, 'POST', '/jointokens', { label: 'x', tags: ['db'] }), {
      errorMsg: /quota of 1 tags/,
    })
    await anna.call(201, 'POST', '/jointokens', { label: 'x', tags: ['web'] })
    for (const none of [{}, null])
      t.equal((await system.call(200, 'PUT', at, { quotas: none }))['quotas'], null)
    await anna.call(201, 'POST', '/tags', { name: 'db' })
  })

  void t.test('accounts count however they joined the organization', async (t) => {
    const { system, addPerson, makeOrganization } = await start(t)
    const red = await makeOrganization('red', { quotas: { accounts: 2 } })
    const anna = await addPerson('anna', 'red')
    const bert = await anna.call(201, 'POST', '/accounts', { name: 'bert', password })
    const account = {
      id: idOf(await system.call(201, 'POST', '/accounts', { name: 'c', password })),
    }
    const full = { errorMsg: /^organization "red" has its quota of 2 accounts/ }

    const assign = `/organizations/${red}/assign`
    t.match(await system.call(409, 'PUT', assign, { account }), full)
    t.match(await anna.call(409, 'POST', '/accounts', { name: 'd', password }), full)
    const [user] = rows(await anna.call(200, 'GET', '/users?account.name=bert'))
    await anna.call(204, 'DELETE', `/users/${idOf(user)}`)
    t.match(
      await system.call(409, 'PUT', assign, { account }),
      full,
      'an account made by red still counts',
    )
    await anna.call(204, 'DELETE', `/accounts/${idOf(bert)}`)
    await system.call(200, 'PUT', assign, { account })
  })
}

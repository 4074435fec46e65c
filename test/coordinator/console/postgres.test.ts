/** State of the console on PostgreSQL with two coordinators on one store and separate buses, so no hint passes between them. */
import t from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { password, rows, type Json } from '../identity/people.js'
import { startConsoleTenants } from './tenants.js'
import { makeLicense, vendor } from './make-license.js'

void t.test('two coordinators', async (t) => {
  const postgres = await startPostgres(t)
  const shared = { storeUrl: await postgres.url(), stateDir: t.testdir() }
  const options = { ...shared, licenseKey: vendor.publicKey }
  const [one, two] = [await startConsoleTenants(t, options), await startConsoleTenants(t, options)]

  await t.test('a license uploaded to one coordinator is valid at the other', async (t) => {
    t.equal((await two.call('GET', '/v1/cache')).status, 402)
    const license = { text: makeLicense(30), type: 'text/plain' }
    t.equal((await one.call('POST', '/v1/license/upload', license)).status, 200)
    two.controller.advance(4_000)
    t.equal((await two.call('GET', '/v1/cache')).status, 200)
    t.equal((await one.call('POST', '/v1/license/upload', license)).status, 200, 'it is replaced')
  })

  await t.test('changes of a user apply at both coordinators', async (t) => {
    const { objects, callers } = await one.makeTenant('red')
    const as = callers.admin
    const body = { username: 'uma', password, role: 'User', groups: [objects.group] }
    const { id } = (await one.call('POST', '/v1/user', { as, body })).body
    const at = `/v1/user/${String(id)}`
    const uma = `uma:${password}`
    const patch = (change: Json) => two.call('PATCH', at, { as, body: change })
    t.match((await two.call('GET', '/v1/user', { as: uma })).body, { list: [{ id }] })
    t.match((await patch({ groups: [] })).body, { role: 'User', groups: [] })
    t.match((await patch({ role: 'Admin' })).body, { role: 'Admin', groups: [] })
    one.controller.advance(4_500)
    const seen = rows((await one.call('GET', '/v1/user', { as: uma })).body['list'])
    t.ok(seen.length > 4, 'an Admin sees all users')
    const back = { role: 'ReadOnly', groups: [objects.group] }
    t.match((await patch(back)).body, back)
    const told = rows((await two.call('GET', '/v1/message', { as: uma })).body['list'])
    t.same([...new Set(told.map(({ action }) => rows(action)[0]))], ['GROUP'], 'only of its group')
    t.equal((await two.call('DELETE', at, { as })).status, 204)
    two.controller.advance(4_500)
    one.controller.advance(4_500)
    for (const tenants of [one, two])
      t.equal((await tenants.call('GET', '/v1/user', { as: uma })).status, 401)
  })
})

/** The API log distinguishes calls that only ask from calls that change something (docs/behaviour.md, API log). */
import t from 'tap'
import { authRoutes } from '../../../src/coordinator/identity/auth-routes.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { eventually } from '../../support/eventually.js'
import { startClient } from './client.js'

/** From docs/behaviour.md, API log: the calls other than GET that change nothing. */
const asking = [
  'compileFiles',
  'planPlacement',
  'previewInvalidation',
  'refresh',
  'validateVclGroup',
]

void t.test('plans, previews and checks are marked in the API log', async (t) => {
  const client = await startClient(t)
  const routes = [...resourceRoutes(client.service), ...authRoutes(client.identity)]
  t.same(
    routes.flatMap(({ asksOnly, operationId }) => (asksOnly === true ? [operationId] : [])).sort(),
    asking,
  )
  const ban = { type: 'ban', expression: 'req.url ~ ^/a', target: { all: true } }

  await client.expect(201, 'POST', '/tags', { name: 'edge' })
  await client.expect(200, 'POST', '/invalidations/preview', ban)
  await client.expect(400, 'POST', '/invalidations/preview', { ...ban, expression: 'no' })
  await client.expect(202, 'POST', '/invalidations', ban)
  await client.expect(409, 'POST', '/tags', { name: 'edge' })

  const listed = async (asksOnly: boolean) => {
    const rows = await client.list(
      `/apilogs?asksOnly=${asksOnly}&path=*tags,*invalidations*&sort=id`,
    )
    return rows.map((row) => `${String(row['path'])} ${String(row['status'])}`)
  }
  await eventually('all entries are written', async () => (await listed(false)).length === 3)
  t.same(await listed(false), ['/api/v1/tags 201', '/api/v1/invalidations 202', '/api/v1/tags 409'])
  t.same(await listed(true), [
    '/api/v1/invalidations/preview 200',
    '/api/v1/invalidations/preview 400',
  ])
})

void t.test('a call with failed authentication is never marked as asking only', async (t) => {
  const client = await startClient(t)
  const refresh = { authorization: 'Refresh made.up.x' }
  await client.call('POST', '/api/v1/auth/refresh', { headers: refresh })
  await client.call('POST', '/api/v1/invalidations/preview', { body: {} })

  const rows = await eventually('both entries', async () => {
    const found = await client.list('/apilogs?status=401&sort=id')
    return found.length === 2 && found
  })

  t.match(rows, [{ path: '/api/v1/auth/refresh', asksOnly: false }, { asksOnly: false }])
})

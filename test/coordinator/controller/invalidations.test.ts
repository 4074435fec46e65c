/** `/invalidations` over HTTP: refusals with reasons, cancel, retry, delete. */
import t from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { endOverdueInvalidations } from '../../../src/coordinator/invalidations/invalidation-expiry.js'
import { moveCursors } from '../../../src/coordinator/invalidations/delivery-queries.js'
import { writeExceptions } from '../../../src/coordinator/invalidations/invalidation-queries.js'
import { describe } from '../gateway/link-agent.js'
import type { TestService } from '../gateway/service.js'
import { enrol, startClient, type Json } from './client.js'

const all = { all: true } as const

void t.test('invalid invalidations are refused with messages naming the valid form', async (t) => {
  const client = await startClient(t)
  const rows: readonly (readonly [body: Json, message: RegExp])[] = [
    [{ expression: 'req.url ~ x', target: all }, /type/],
    [{ type: 'soft', target: all }, /type/],
    [{ type: 'ban', target: all }, /either expression or expressions/],
    [{ type: 'ban', expression: 'a', expressions: ['b'], target: all }, /either/],
    [{ type: 'ban', expressions: [], target: all }, /expressions/],
    [{ type: 'ban', expression: 'req.url', target: all }, /position 8/],
    [
      { type: 'ban', expressions: ['req.url ~ a', 'x ~ y'], target: all },
      /expressions\[1\].*position 1/,
    ],
    [{ type: 'ban', urls: ['http://a/'], expression: 'req.url ~ x', target: all }, /urls/],
    [{ type: 'ban', expression: 'req.url ~ x', method: 'BAN', target: all }, /method/],
    [{ type: 'ban', expression: 'req.url ~ x' }, /target/],
    [{ type: 'ban', expression: 'req.url ~ x', target: {} }, /exactly one/],
    [
      { type: 'ban', expression: 'req.url ~ x', target: { all: true, tags: [{ id: 1 }] } },
      /exactly one/,
    ],
    [{ type: 'ban', expression: 'req.url ~ x', target: { all: false } }, /all/],
    [{ type: 'ban', expression: 'req.url ~ x', target: { agents: [] } }, /agents/],
    [
      { type: 'ban', expression: 'req.url ~ x', target: { agents: [{ id: 99 }] } },
      /target\.agents: 99/,
    ],
    [
      { type: 'ban', expression: 'req.url ~ x', target: { vclGroup: { id: 99 } } },
      /target\.vclGroup: 99/,
    ],
    [
      { type: 'ban', expression: 'req.url ~ x', target: { tags: [{ id: 99 }] } },
      /target\.tags: 99/,
    ],
    [
      { type: 'ban', expression: 'req.url ~ x', target: { domains: [{ id: 99 }] } },
      /target\.domains: 99/,
    ],
    [{ type: 'ban', expression: 'req.url ~ x', target: all, ttl: 0 }, /ttl/],
    [{ type: 'ban', expression: 'req.url ~ x', target: all, ttl: 1.5 }, /ttl/],
    [{ type: 'ban', expression: 'req.url ~ x', target: all, confirm: true }, /confirm/],
    [{ type: 'purge', target: all }, /urls/],
    [{ type: 'purge', urls: ['/a'], target: all }, /not absolute/],
    [{ type: 'purge', urls: ['http://a.example/'], expression: 'x', target: all }, /expression/],
    [{ type: 'purge', urls: ['http://a.example/'], method: 'get', target: all }, /method/],
    [{ type: 'purge', urls: ['http://a.example/'], headers: { Host: 'b' }, target: all }, /Host/],
  ]
  for (const [index, [body, message]] of rows.entries())
    for (const path of ['/invalidations', '/invalidations/preview'])
      t.match(
        await client.expect(400, 'POST', path, body),
        { errorKey: 'invalidation', errorMsg: message },
        `row ${index} ${path}`,
      )
  t.same(await client.list('/invalidations'), [])
  await client.expect(404, 'GET', '/invalidations/1')

  const reader = await enrol(client, 'reader', { description: { capabilities: ['report'] } })
  const locked = await enrol(client, 'locked', {
    description: {
      condition: { ...describe('', '').condition, lockedBecause: 'is enrolled elsewhere' },
    },
  })
  const ban = (target: Json) => ({ type: 'ban', expression: 'req.url ~ x', target })
  const named = (id: number) => ban({ agents: [{ id }] })
  t.match(await client.expect(409, 'POST', '/invalidations', named(reader)), { errorKey: 'agent' })
  t.match(await client.expect(423, 'POST', '/invalidations', named(locked)), { errorKey: 'agent' })
  const foreseen = await client.expect(200, 'POST', '/invalidations/preview', ban(all))
  t.match(foreseen, { total: 1, reached: 1, away: 1, warnings: [/^req\.url is known only/] })
  t.same(await client.list('/invalidations'), [], 'a preview creates no entry')
  const made = await client.expect(202, 'POST', '/invalidations', ban(all))
  t.match(made, { stateName: 'Waiting', total: 1, results: [{ agent: { name: 'locked' } }] })
})

void t.test(
  'an entry without agents completes at once; an ended entry can be deleted, not cancelled',
  async (t) => {
    const client = await startClient(t)
    const body = { type: 'ban', expression: 'obj.http.x ~ "a b"', target: all, ttl: 60 }
    const made = await client.expect(202, 'POST', '/invalidations', body)
    t.match(made, {
      state: 2,
      done: 0,
      total: 0,
      results: [],
      ttl: 60,
      account: 'root',
      warnings: [],
      expressions: ['obj.http.x ~ "a b"'],
      target: { all: true },
      organization: null,
    })
    const at = `/invalidations/${String(made['id'])}`
    t.match(await client.expect(409, 'PUT', `${at}/cancel`), { errorMsg: /Completed/ })
    t.match(await client.expect(409, 'PUT', `${at}/retry`), { errorMsg: /Completed/ })
    const [listed] = await client.list('/invalidations?stateName=Completed&type=ban')
    t.match(listed, { id: made['id'], stateName: 'Completed', results: [] })

    await enrol(client, 'edge-1')
    const waiting = await client.expect(202, 'POST', '/invalidations', body)
    const there = `/invalidations/${String(waiting['id'])}`
    t.match(await client.expect(409, 'DELETE', there), { errorMsg: /cancel it first/ })
    t.match(await client.expect(200, 'PUT', `${there}/cancel`), { state: 6, done: 0, total: 1 })
    t.match(
      await client.expect(200, 'PUT', `${there}/cancel`),
      { state: 6 },
      'a second cancel changes nothing',
    )
    t.match(await client.expect(202, 'PUT', `${there}/retry`), {
      stateName: 'Waiting',
      results: [{ state: 'pending' }],
    })
    client.advance(61_000)
    await endOverdueInvalidations(client.service)
    t.match(await client.expect(200, 'GET', there), { state: 3, results: [{ state: 'expired' }] })
    await client.expect(204, 'DELETE', there)
    await client.expect(204, 'DELETE', at)
  },
)

void t.test('the time until all agents are done is measured', async (t) => {
  const client = await startClient(t)
  const body = { type: 'ban', expression: 'obj.http.x ~ y', target: all, ttl: 60 }
  const measured: number[] = []
  const service = {
    ...client.service,
    observeInvalidation: (seconds: number) => measured.push(seconds),
  }
  const { queries } = service.store
  const agentId = await enrol(client, 'edge-1')
  for (let n = 0; n < 3; n++) await client.expect(202, 'POST', '/invalidations', body)
  await writeExceptions(queries, 3, [{ state: 'failed', error: 'no', at: 1, agents: [agentId] }])

  await moveCursors(queries, [{ agentId, position: 1, trouble: null }], 1)
  client.advance(10_000)
  await endOverdueInvalidations(service)
  t.equal(measured.length, 1)
  t.ok((measured[0] ?? 0) >= 10, 'seconds since the creation of the entry')
  await moveCursors(queries, [{ agentId, position: 3, trouble: null }], 1)
  await endOverdueInvalidations(service)
  t.match(await client.expect(200, 'GET', '/invalidations/3'), { stateName: 'Failed' })
  t.equal(measured.length, 2, 'failed entries are not measured')
})

void t.test('the routes need the permission type invalidation', (t) => {
  const routes = resourceRoutes({} as TestService).filter(({ path }) =>
    path.startsWith('/invalidations'),
  )
  t.equal(routes.length, 7)
  for (const { permission, method } of routes)
    t.same(permission, { type: 'invalidation', access: method === 'GET' ? 'read' : 'write' })
  t.end()
})

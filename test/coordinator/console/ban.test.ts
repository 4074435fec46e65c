/** Bans for a group: target caches, answers and refusals (docs/behaviour.md, Console bans). */
import t from 'tap'
import { toObjectId } from '../../../src/resources/object-id.js'
import { enrol } from '../controller/client.js'
import { startConsole } from './console-client.js'

void t.test('a ban targets the caches of a group; disconnected caches get it later', async (t) => {
  const { call, controller } = await startConsole(t)
  const { body: group } = await call('POST', '/v1/group', { body: { name: 'site' } })
  const path = `/v1/group/${String(group['id'])}`
  const cacheId = toObjectId('cache', await enrol(controller, 'member'))
  await enrol(controller, 'other')
  const nobody = await call('POST', `${path}/ban`, { body: { expression: 'req.url ~ x' } })
  t.equal(nobody.status, 200)
  t.match(nobody.body, { state: 2, done: 0, total: 0, results: [] }, 'the group has no caches')

  t.equal((await call('PUT', `${path}/cache/${cacheId}`)).status, 204)
  const answer = await call('POST', `${path}/ban`, {
    body: { expressions: ['req.url ~ ^/a$', 'obj.status == 404'], unknown: 1 },
  })
  t.equal(answer.status, 200)
  const { body: cache } = await call('GET', `/v1/cache/${cacheId}`)
  t.match(answer.body, {
    state: 5,
    done: 0,
    total: 1,
    results: [{ cacheId, name: cache['name'], status: 202, message: '' }],
  })
  const { target } = await controller.service.store.queries
    .selectFrom('invalidations')
    .select('target')
    .where('id', '=', Number(answer.body['id']))
    .executeTakeFirstOrThrow()
  t.match(JSON.parse(target), { vclGroup: { name: 'site' } }, 'a ban is an ordinary invalidation')
})

void t.test('a malformed ban is refused before any cache is asked', async (t) => {
  const { call } = await startConsole(t)
  const { body: group } = await call('POST', '/v1/group', { body: { name: 'site' } })
  const path = `/v1/group/${String(group['id'])}/ban`
  const cases: [object, RegExp][] = [
    [{}, /either expression or expressions/],
    [{ expression: 'req.url ~ x', expressions: ['req.url ~ x'] }, /either/],
    [{ expressions: [] }, /0 members/],
    [{ expression: 'req.url ~ "a' }, /position \d+/],
    [{ expression: 'nothing ~ a' }, /position \d+/],
    [{ expression: 7 }, /expression/],
    [{ expressions: ['req.url ~ x', 'req.url ~ << EOF'] }, /expressions\[1\]/],
  ]
  for (const [body, message] of cases) {
    const answer = await call('POST', path, { body })
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(answer.body['message'], message)
  }
  const text = { text: 'req.url ~ x', type: 'text/plain' }
  t.equal((await call('POST', path, text)).status, 415)
  const nowhere = `/v1/group/${toObjectId('group', 99)}/ban`
  t.equal((await call('POST', nowhere, { body: { expression: 'req.url ~ x' } })).status, 404)
})

/** Pushes: the resulting head, the caches that compile first, and concurrent pushes on both databases. */
import t, { type Test } from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { addCompilingCache, branchesOf, makeGroupWith, vcl, type Branches } from './branches.js'
import { startConsole, type ConsoleClient } from './console-client.js'
import { startFixture } from './group-fixture.js'

void t.test('a push creates a new head, and an old commit can become the head again', async (t) => {
  const client = await startConsole(t)
  const { make, push, head } = branchesOf(client)
  const { call } = client
  const { id, headCommitId: first } = await make('site')
  const second = await push(id, vcl('second'), first)
  t.match(second, { status: 200, body: { content: vcl('second'), head: true } })
  t.match(second.body['message'], /no group/)
  const third = await call('POST', `/v1/vcl/${String(id)}/push`, {
    body: { content: vcl('third') },
  })
  t.equal((await head(id))['id'], third.body['id'])

  const late = await push(id, vcl('late'), first)
  t.match(late, { status: 409, body: { message: /no longer the head/ } })
  t.equal((await head(id))['id'], third.body['id'], 'the head is unchanged')

  const back = await call('POST', `/v1/vcl/${String(id)}/push/${String(first)}`)
  t.match(back, { status: 200, body: { id: first, content: vcl('first') } })
  t.equal((await head(id))['id'], first)
  const fourth = await push(id, vcl('fourth'), first)
  t.equal(fourth.status, 200)
  const same = await push(id, vcl('fourth'))
  t.equal(same.body['id'], fourth.body['id'], 'an equal text creates no commit')

  const path = `/v1/vcl/${String(id)}`
  const list = (await call('GET', `${path}/history`)).body['list'] as Record<string, unknown>[]
  const ids = [fourth, third, second].map(({ body }) => body['id'])
  t.same(
    list.map((commit) => commit['id']),
    [...ids, first],
  )
  t.same(
    list.map((commit) => commit['head']),
    [true, false, false, false],
  )
  t.match((await call('GET', `${path}/history/2/1`)).body, { list: [{ id: ids[1] }] })
  const commit = await call('GET', `${path}/commit/${String(ids[1])}`)
  t.equal(commit.body['content'], vcl('third'))
})

void t.test('an invalid push is refused and leaves the head unchanged', async (t) => {
  const client = await startConsole(t)
  const { make, push, head } = branchesOf(client)
  const { call } = client
  const site = await make('site')
  const other = await make('other')
  const path = `/v1/vcl/${String(site['id'])}/push`
  const before = await head(site['id'])
  const nowhere = 'b10000000000000000000000'
  t.equal((await push(site['id'], vcl('x'), other['headCommitId'])).status, 404)
  t.equal((await call('POST', `${path}/${String(other['headCommitId'])}`)).status, 404)
  t.equal((await push(site['id'], vcl('x'), nowhere)).status, 404)
  t.equal((await push(site['id'], vcl('x'), 'head')).status, 404)
  t.equal((await push(other['id'], vcl('x'), site['id'])).status, 404)
  const nothing = await call('POST', path)
  t.match(nothing, { status: 400, body: { message: /a body: a JSON object or a text$/ } })
  t.equal((await call('POST', path, { body: {} })).status, 400)
  t.equal((await call('POST', path, { text: vcl('x'), type: 'text/vcl' })).status, 415)
  t.equal((await call('PUT', path, { body: { content: 'x' } })).status, 405)
  t.same(await head(site['id']), before)
})

void t.test('a push first compiles on one cache of each release in its groups', async (t) => {
  const fixture = await startFixture(t)
  const { make, push, head } = branchesOf(fixture)
  const { id, headCommitId: first } = await make('site')
  const group = await makeGroupWith(fixture, 'edge', id)
  const alone = await push(id, vcl('alone'))
  t.match(alone.body['message'], /no cache of its groups is running/)

  const compiled = [
    await addCompilingCache(t, fixture, { group, name: 'new', version: '7.1.1' }),
    await addCompilingCache(t, fixture, { group, name: 'spare', version: '7.1.1' }),
    await addCompilingCache(t, fixture, { group, name: 'old', version: '6.0.11' }),
  ]
  const second = await push(id, vcl('second'))
  t.match(second.body['message'], /7\.1\.1 \(new\).*6\.0\.11 \(old\)/)
  t.same(compiled, [[vcl('second')], [], [vcl('second')]])
  const failed = await push(id, vcl('broken'))
  t.equal(failed.status, 400)
  t.match(failed.body['message'], /^site line 3 pos 3: Expected ';'/)
  t.match(await push(id, 'vcl 4.1; include "gone";'), { status: 400, body: { message: /gone/ } })
  t.equal((await head(id))['id'], second.body['id'], 'the head is unchanged')

  const stale = await push(id, vcl('broken'), first)
  t.equal(stale.status, 409, 'a stale push is refused before any cache compiles it')
})

void t.test('one of several concurrent pushes onto a head wins, on any coordinator', async (t) => {
  const postgres = await startPostgres(t)
  const alone = await startConsole(t)
  const storeUrl = await postgres.url()
  const first = await startConsole(t, { storeUrl })
  const second = await startConsole(t, { storeUrl, stateDir: first.controller.stateDir })
  await pushAtOnce(t, 'SQLite', [alone, alone])
  await pushAtOnce(t, 'PostgreSQL', [first, second])
})

type Pair = readonly [ConsoleClient, ConsoleClient]

async function pushAtOnce(t: Test, name: string, pair: Pair): Promise<void> {
  const [one, other] = [branchesOf(pair[0]), branchesOf(pair[1])]
  const six = <T>(push: (n: number, by: Branches) => Promise<T>) =>
    Promise.all([0, 1, 2, 3, 4, 5].map((n) => push(n, n % 2 === 0 ? one : other)))
  const { id, headCommitId: head } = await one.make('site')
  const pushed = await six((n, by) => by.push(id, vcl(`push ${n}`), head))
  const statuses = pushed.map(({ status }) => status).toSorted((a, b) => a - b)
  t.same(statuses, [200, 409, 409, 409, 409, 409], name)
  const winner = pushed.find(({ status }) => status === 200)
  t.equal((await other.head(id))['id'], winner?.body['id'], name)

  const free = await six((n, by) => by.push(id, vcl(`free ${n}`)))
  const commits = new Set(free.map(({ body }) => body['id']))
  t.equal(commits.size, 6, `${name}: each is a commit`)
  t.ok(commits.has((await one.head(id))['id']), name)
  for (const [n, { body }] of free.entries()) t.equal(body['content'], vcl(`free ${n}`))

  const path = `/v1/vcl/${String(id)}/push/${String(head)}`
  t.equal((await pair[1].call('POST', path)).body['id'], head, name)
  const next = await one.push(id, vcl('next'), head)
  t.notOk(commits.has(next.body['id']), `${name}: no commit is written over`)
}

/** A VCL branch of the console on a real cache: pushed, deployed, refused, rolled back, undeployed (docs/behaviour.md, Console VCL). */
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { answering, fetchMark } from '../support/observe-cache.js'
import { callsTo } from '../coordinator/console/console-client.js'
import type { CallAnswer } from '../support/http-call.js'
import { eventually } from '../support/eventually.js'
import { startHarness, untilAgent, untilServing, type Harness } from './harness.js'

type Json = Record<string, unknown>

interface Fixture extends Harness {
  readonly cacheId: string
  readonly group: string
  /** Throws if the answer has another status. */
  readonly expect: (status: number, method: string, path: string, body?: object) => Promise<Json>
  readonly makeBranch: (name: string, content: string) => Promise<string>
  /** Onto a commit, or unconditionally. */
  readonly push: (branch: string, text: string, onto?: string) => Promise<CallAnswer>
  readonly head: (branch: string) => Promise<Json>
  readonly deploy: (branch: string) => Promise<Json>
}

const broken = 'vcl 4.1;\nbackend default none;\nsub vcl_recv { set req.http.a = 1 }\n'

void t.test('a branch on a real cache', async (t) => {
  const fixture = await startFixture(t)
  const branch = await fixture.makeBranch('site', answering('one'))
  const one = (await fixture.head(branch))['id']
  await t.test('a group without caches keeps the branch for its first cache', (t) =>
    deployEarly(t, fixture, branch),
  )
  await t.test('a push compiles there, and changes no cache', (t) => pushSecond(t, fixture, branch))
  await t.test('a deploy applies the head', async (t) => {
    t.match(await fixture.deploy(branch), toldOf(fixture, 200))
    t.equal((await fetchMark(fixture.cache)).mark, 'two')
    const { id } = await fixture.head(branch)
    t.match(await fixture.expect(200, 'GET', fixture.group), { deployedVclCommitId: id })
  })
  await t.test('a commit that does not compile neither becomes the head nor is deployed', (t) =>
    refuseBroken(t, fixture, branch),
  )
  await t.test('an old commit becomes the head again, and is deployed', async (t) => {
    t.equal((await fixture.expect(200, 'POST', `${branch}/push/${String(one)}`))['id'], one)
    t.match(await fixture.deploy(branch), toldOf(fixture, 200))
    t.equal((await fetchMark(fixture.cache)).mark, 'one')
    t.match(await fixture.expect(200, 'GET', fixture.group), { deployedVclCommitId: one })
  })
  await t.test('another branch is the group’s once it is deployed', (t) => deployOther(t, fixture))
  await t.test('simultaneous deploys each report the actual result', async (t) => {
    const told = await Promise.all([fixture.deploy(branch), fixture.deploy(branch)])
    for (const one of told) t.match(one, toldOf(fixture, 200))
    await untilServing(fixture.cache, 'one')
  })
  await t.test('after the branch is undeployed, the cache runs the idle VCL', async (t) => {
    await fixture.expect(204, 'DELETE', `${fixture.group}${branch.replace('/v1', '')}`)
    await eventually('idle', async () => (await fetchMark(fixture.cache)).status === 503)
    const group = await fixture.expect(200, 'GET', fixture.group)
    t.match(group, { activeVclId: null, deployedVclCommitId: null })
    await fixture.expect(404, 'DELETE', `${fixture.group}${branch.replace('/v1', '')}`)
    await fixture.expect(204, 'DELETE', branch)
  })
})

async function startFixture(t: Test): Promise<Fixture> {
  const harness = await startHarness(t, { heartbeatSeconds: 3 })
  const { id } = await untilAgent(harness, 'Running')
  const call = callsTo(harness.coordinator.base)
  const expect: Fixture['expect'] = async (status, method, path, body) => {
    const answer = await call(method, path, { body })
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${answer.text}`)
    return answer.body
  }
  const group = `/v1/group/${String((await expect(201, 'POST', '/v1/group', { name: 'edge' }))['id'])}`
  return Object.assign(harness, {
    expect,
    group,
    cacheId: toObjectId('cache', id),
    makeBranch: async (name: string, content: string) =>
      `/v1/vcl/${String((await expect(201, 'POST', '/v1/vcl', { name, content }))['id'])}`,
    push: (branch: string, text: string, onto?: string) => {
      const path = onto === undefined ? `${branch}/push` : `${branch}/push/${onto}`
      return call('POST', path, { text, type: 'text/plain' })
    },
    head: (branch: string) => expect(200, 'GET', `${branch}/head`),
    deploy: (branch: string) => expect(200, 'PUT', `${group}${branch.replace('/v1', '')}/deploy`),
  })
}

/** The answer to a deploy if its one cache has this result for compile and deploy. */
function toldOf({ cacheId, cache }: Fixture, statusCode: number, message?: RegExp): object {
  const name = new RegExp(`:${cache.httpPort}_`)
  const told = { cacheId, name, statusCode }
  return {
    success: statusCode === 200,
    compilationData: [{ ...told, ...(message && { message }) }],
    deployData: [told],
  }
}

async function deployEarly(t: Test, fixture: Fixture, branch: string): Promise<void> {
  const { expect, group, cacheId } = fixture
  const nothing = { success: false, compilationData: [], deployData: [], message: /cache/ }
  t.match(await fixture.deploy(branch), nothing)
  t.match(await expect(200, 'GET', group), { deployedVclCommitId: null }, 'pending')
  await expect(204, 'PUT', `${group}/cache/${cacheId}`)
  await untilServing(fixture.cache, 'one')
  const [, , , id] = branch.split('/')
  t.match(await expect(200, 'GET', group), { activeVclId: id, caches: [cacheId] })
}

async function pushSecond(t: Test, { push, head, cache }: Fixture, branch: string): Promise<void> {
  const before = String((await head(branch))['id'])
  const pushed = await push(branch, answering('two'), before)
  t.match(pushed, { status: 200, body: { head: true, message: /^compiled by \d+\.\d+\.\d+/ } })
  t.match(await push(branch, answering('late'), before), { status: 409 })
  t.equal((await head(branch))['id'], pushed.body['id'])
  t.equal((await fetchMark(cache)).mark, 'one')
}

async function refuseBroken(t: Test, fixture: Fixture, branch: string): Promise<void> {
  const { push, head, expect, cache, group } = fixture
  const before = await head(branch)
  const refused = await push(branch, broken)
  t.match(refused, { status: 400, body: { message: /^site line 3 pos \d+: Expected ';'/i } })
  t.same(await head(branch), before)
  const had = await expect(200, 'GET', group)
  const loose = await fixture.makeBranch('loose', broken)
  const told = await fixture.deploy(loose)
  t.match(told, toldOf(fixture, 400, /loose line 3 pos \d+: Expected ';'/i))
  t.same(await expect(200, 'GET', group), had, 'the group is unchanged')
  t.equal((await fetchMark(cache)).mark, 'two')
}

async function deployOther(t: Test, fixture: Fixture): Promise<void> {
  const { expect, group, cache } = fixture
  const other = await fixture.makeBranch('other', answering('other'))
  t.match(await fixture.deploy(other), toldOf(fixture, 200))
  t.equal((await fetchMark(cache)).mark, 'other')
  const [, , , id] = other.split('/')
  t.match(await expect(200, 'GET', group), { activeVclId: id })
  await expect(409, 'DELETE', other)
  const twin = await fixture.makeBranch('twin', answering('other'))
  t.match(await fixture.deploy(twin), toldOf(fixture, 200))
  const { id: commit } = await fixture.head(twin)
  t.match(await expect(200, 'GET', group), { deployedVclCommitId: commit })
  await expect(204, 'DELETE', other)
}

/** A VCL branch of the console on a real cache: pushed, deployed, refused, rolled back, taken away (docs/behaviour.md, Console VCL). */
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { answering, fetchMark } from '../agent/cache-sight.js'
import { callsTo } from '../coordinator/console/console-client.js'
import type { CallAnswer } from '../support/start-controller.js'
import { eventually } from '../support/eventually.js'
import { startStand, untilAgent, untilServing, type Stand } from './stand.js'

type Json = Record<string, unknown>

interface Desk extends Stand {
  readonly cacheId: string
  readonly group: string
  /** Throws unless it is answered with this status. */
  readonly expect: (status: number, method: string, path: string, body?: object) => Promise<Json>
  readonly makeBranch: (name: string, content: string) => Promise<string>
  /** Onto a commit, or in any case. */
  readonly push: (branch: string, text: string, onto?: string) => Promise<CallAnswer>
  readonly head: (branch: string) => Promise<Json>
  readonly deploy: (branch: string) => Promise<Json>
}

const broken = 'vcl 4.1;\nbackend default none;\nsub vcl_recv { set req.http.a = 1 }\n'

void t.test('a branch on a real cache', { timeout: 220_000 }, async (t) => {
  const desk = await startDesk(t)
  const branch = await desk.makeBranch('site', answering('one'))
  const one = (await desk.head(branch))['id']
  await t.test('a group without caches keeps it for its first', (t) => deployEarly(t, desk, branch))
  await t.test('a push compiles there, and changes no cache', (t) => pushSecond(t, desk, branch))
  await t.test('a deploy brings the head', async (t) => {
    t.match(await desk.deploy(branch), toldOf(desk, 200))
    t.equal((await fetchMark(desk.cache)).mark, 'two')
    const { id } = await desk.head(branch)
    t.match(await desk.expect(200, 'GET', desk.group), { deployedVclCommitId: id })
  })
  await t.test('what does not compile is neither the head nor deployed', (t) =>
    refuseBroken(t, desk, branch),
  )
  await t.test('an old commit is the head again, and is deployed', async (t) => {
    t.equal((await desk.expect(200, 'POST', `${branch}/push/${String(one)}`))['id'], one)
    t.match(await desk.deploy(branch), toldOf(desk, 200))
    t.equal((await fetchMark(desk.cache)).mark, 'one')
    t.match(await desk.expect(200, 'GET', desk.group), { deployedVclCommitId: one })
  })
  await t.test('another branch is the group’s once it is deployed', (t) => deployOther(t, desk))
  await t.test('of two deploys at once each tells what is so', async (t) => {
    const told = await Promise.all([desk.deploy(branch), desk.deploy(branch)])
    for (const one of told) t.match(one, toldOf(desk, 200))
    await untilServing(desk.cache, 'one')
  })
  await t.test('taken away, the cache runs the idle VCL', async (t) => {
    await desk.expect(204, 'DELETE', `${desk.group}${branch.replace('/v1', '')}`)
    await eventually('idle', async () => (await fetchMark(desk.cache)).status === 503)
    const group = await desk.expect(200, 'GET', desk.group)
    t.match(group, { activeVclId: null, deployedVclCommitId: null })
    await desk.expect(404, 'DELETE', `${desk.group}${branch.replace('/v1', '')}`)
    await desk.expect(204, 'DELETE', branch)
  })
})

async function startDesk(t: Test): Promise<Desk> {
  const stand = await startStand(t, { heartbeatSeconds: 3 })
  const { id } = await untilAgent(stand, 'Running')
  const call = callsTo(stand.coordinator.base)
  const expect: Desk['expect'] = async (status, method, path, body) => {
    const answer = await call(method, path, { body })
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${answer.text}`)
    return answer.body
  }
  const group = `/v1/group/${String((await expect(201, 'POST', '/v1/group', { name: 'edge' }))['id'])}`
  return Object.assign(stand, {
    ...{ expect, group, cacheId: toObjectId('cache', id) },
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

/** What a deploy says when its one cache says this of compile and deploy. */
function toldOf({ cacheId, cache }: Desk, statusCode: number, message?: RegExp): object {
  const name = new RegExp(`:${cache.httpPort}_`)
  const told = { cacheId, name, statusCode }
  return {
    success: statusCode === 200,
    compilationData: [{ ...told, ...(message && { message }) }],
    deployData: [told],
  }
}

async function deployEarly(t: Test, desk: Desk, branch: string): Promise<void> {
  const { expect, group, cacheId } = desk
  const nothing = { success: false, compilationData: [], deployData: [], message: /cache/ }
  t.match(await desk.deploy(branch), nothing)
  t.match(await expect(200, 'GET', group), { deployedVclCommitId: null }, 'it waits for a cache')
  await expect(204, 'PUT', `${group}/cache/${cacheId}`)
  await untilServing(desk.cache, 'one')
  const [, , , id] = branch.split('/')
  t.match(await expect(200, 'GET', group), { activeVclId: id, caches: [cacheId] })
}

async function pushSecond(t: Test, { push, head, cache }: Desk, branch: string): Promise<void> {
  const before = String((await head(branch))['id'])
  const pushed = await push(branch, answering('two'), before)
  t.match(pushed, { status: 200, body: { head: true, message: /^compiled by \d+\.\d+\.\d+/ } })
  t.match(await push(branch, answering('late'), before), { status: 409 })
  t.equal((await head(branch))['id'], pushed.body['id'])
  t.equal((await fetchMark(cache)).mark, 'one')
}

async function refuseBroken(t: Test, desk: Desk, branch: string): Promise<void> {
  const { push, head, expect, cache, group } = desk
  const before = await head(branch)
  const refused = await push(branch, broken)
  t.match(refused, { status: 400, body: { message: /^site line 3 pos \d+: Expected ';'/i } })
  t.same(await head(branch), before)
  const had = await expect(200, 'GET', group)
  const loose = await desk.makeBranch('loose', broken)
  const told = await desk.deploy(loose)
  t.match(told, toldOf(desk, 400, /loose line 3 pos \d+: Expected ';'/i))
  t.same(await expect(200, 'GET', group), had, 'the group has what it had')
  t.equal((await fetchMark(cache)).mark, 'two')
}

async function deployOther(t: Test, desk: Desk): Promise<void> {
  const { expect, group, cache } = desk
  const other = await desk.makeBranch('other', answering('other'))
  t.match(await desk.deploy(other), toldOf(desk, 200))
  t.equal((await fetchMark(cache)).mark, 'other')
  const [, , , id] = other.split('/')
  t.match(await expect(200, 'GET', group), { activeVclId: id })
  await expect(409, 'DELETE', other)
  const twin = await desk.makeBranch('twin', answering('other'))
  t.match(await desk.deploy(twin), toldOf(desk, 200))
  const { id: commit } = await desk.head(twin)
  t.match(await expect(200, 'GET', group), { deployedVclCommitId: commit })
  await expect(204, 'DELETE', other)
}

/** A group of the console and a real cache: its parameters are set, healed and reset; a ban of the group reaches it. */
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { administrator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { basic, callHttp } from '../support/http-call.js'
import { agentName, startHarness, untilAgent, type Harness } from './harness.js'

type Json = Readonly<Record<string, unknown>>
type Expect = (status: number, method: string, path: string, body?: object) => Promise<Json>

void t.test('the parameters of a group are those of its caches', async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  const agent = await untilAgent(harness, 'Running')
  const { expect, group, cachePath } = await prepare(t, harness, agent.id)
  const untilSet = async (name: string, value: RegExp): Promise<void> => {
    await eventually(`${name} is ${value.source}`, async () =>
      value.test(await readParam(harness, name)),
    )
  }
  const params = { default_ttl: '77', default_grace: '11', no_such_parameter: '1' }
  const set = await expect(201, 'POST', '/v1/paramset', { name: 'web', params })
  const setPath = `/v1/paramset/${String(set['id'])}`

  await t.test('an unknown parameter is reported for the cache; others are set', async (t) => {
    await expect(204, 'PUT', `${group}/paramset/${String(set['id'])}`)
    await untilSet('default_ttl', /^77/)
    await untilSet('default_grace', /^11/)
    await eventually('the cache reports the unknown parameter', async () => {
      const { config } = await untilAgent(harness, 'Running')
      return config.lastAttempted?.error?.includes('no_such_parameter')
    })
    t.pass()
  })

  await t.test('a change from outside is healed', async (t) => {
    await harness.cache.adm('param.set', 'default_ttl', '5')
    await untilSet('default_ttl', /^77/)
    t.pass()
  })

  await t.test('a value set on the cache overrides the group’s until its reset', async (t) => {
    const param = `/agents/${agent.id}/params/default_ttl`
    t.match((await harness.api.call('PUT', param, { value: '33' })).text, /"33\./)
    await expect(200, 'PATCH', setPath, { params: { default_ttl: '78' } })
    await untilSet('default_grace', /^10\./)
    t.match(await readParam(harness, 'default_ttl'), /^33/)
    const reset = await harness.api.call('PUT', param, { value: null })
    t.match(reset.text, /"78\./, 'back to the group’s value')
    await untilSet('default_ttl', /^78/)
  })

  await t.test('a ban of the group reaches the cache', async (t) => {
    /** Repeated, as a busy machine may be slower than the time limit of the answer. */
    const banUntil = (expression: string, state: number): Promise<Json> =>
      eventually(`a ban ends in state ${state}`, async () => {
        const answer = await expect(200, 'POST', `${group}/ban`, { expression })
        return answer['state'] === state ? answer : undefined
      })
    const done = { done: 1, total: 1, results: [{ status: 200, message: '' }] }
    t.match(await banUntil('req.url ~ ^/of-the-group$', 2), done)
    t.ok(harness.port.commands.some((line) => line.includes('^/of-the-group$')))
    const refused = { done: 0, total: 1, results: [{ status: 400, message: /Regex/ }] }
    t.match(await banUntil('req.url ~ (', 3), refused)
  })

  await t.test('a cache without a group, or whose group has no set, has defaults', async (t) => {
    await expect(204, 'DELETE', cachePath)
    await untilSet('default_ttl', /^120\./)
    await expect(204, 'PUT', cachePath)
    await untilSet('default_ttl', /^78/)
    await expect(204, 'DELETE', `${group}/paramset/${String(set['id'])}`)
    await untilSet('default_ttl', /^120\./)
    await expect(204, 'DELETE', setPath)
    t.equal((await untilAgent(harness, 'Running')).name, agentName)
  })
})

/** A group with the cache as its member. */
async function prepare(t: Test, { coordinator }: Harness, agentId: number) {
  const { user, password } = administrator
  const headers = { authorization: basic(user, password) }
  const expect: Expect = async (status, method, path, body) => {
    const answer = await callHttp(method, `${coordinator.base}/api${path}`, { headers, body })
    t.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const made = await expect(201, 'POST', '/v1/group', { name: 'site' })
  const group = `/v1/group/${String(made['id'])}`
  const cachePath = `${group}/cache/${toObjectId('cache', agentId)}`
  await expect(204, 'PUT', cachePath)
  return { expect, group, cachePath }
}

async function readParam({ cache }: Harness, name: string): Promise<string> {
  const text = await cache.adm('param.show', name)
  return /Value is: (\S+)/.exec(text)?.[1] ?? ''
}

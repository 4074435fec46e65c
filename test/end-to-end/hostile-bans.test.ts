/** Bans that attack more than objects: none of them runs a command, changes a parameter, or restarts the child. */
import t from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { callsTo } from '../coordinator/console/console-client.js'
import { eventually } from '../support/eventually.js'
import { invalidate, untilEnded } from './invalidation-calls.js'
import { agentName, startHarness, untilAgent } from './harness.js'
import { readFacts } from './untouched.js'

const refused = [
  'req.url ~ x\nparam.set default_ttl 1',
  'req.url ~ x\r\nparam.set default_ttl 1',
  'req.url ~ x\0y',
  'req.url ~ a\u2028b',
  'req.url ~ a\u2029b',
  'req.url ~ "a\nb"',
  'obj.http.x ~ "<<" MARK',
  'obj.http.x ~ << && req.url ~ MARK',
  'obj.http.x ~ "<<"',
  'obj.http.x ~ "\\x3c<"',
  'obj.http.x ~ "\\074\\074"',
  'obj.http.x ~ \\x3C\\x3c',
  '"obj.http.x ~ << MARK"',
  '"req.url ~ x"',
  'req.url == "a && obj.status == 200"',
  'req.url ~ ""',
  'req.url ~ "open',
  `obj.http.${'a'.repeat(127)} == x`,
  `req.url ~ ${'a'.repeat(100_000)}`,
  'obj.hits > 0',
  'req.url ~ x; vcl.discard boot',
]

/** Accepted literally, without a further effect. */
const taken = [
  'req.url ~ "a && obj.status == 200"',
  'req.url ~ a\\nparam.set',
  'req.url ~ "a\\000b"',
  'req.url ~ "\\"quoted\\" \\\\"',
  'obj.http.x ~ a<<b',
  'obj.http.x ~ <<EOF',
  'obj.http.x == "&&"',
  "req.url ~ '$(reboot)'",
  'req.url ~ %s%n',
  'req.url ~ é\u{1f600}',
  'req.url ~ (',
  'req.url ~ (a+)+$',
  `req.url ~ ${'a'.repeat(4000)}`,
]

void t.test('hostile bans', async (t) => {
  const harness = await startHarness(t)
  await untilAgent(harness, 'Running')
  const { api, cache } = harness
  await eventually('it is taken over', async () => !(await cache.ask('vcl.list')).includes('boot'))
  const before = await readFacts(cache)
  const target = { all: true }

  await t.test('are refused with the position of the error', async (t) => {
    for (const [index, expression] of refused.entries()) {
      const body = { type: 'ban', expression, target }
      const { status, text } = await api.call('POST', '/invalidations', body)
      t.equal(status, 400, `row ${index}`)
      t.match(text, /position \d+/, `row ${index}`)
      const batch = { type: 'ban', expressions: ['req.url ~ a', expression], target }
      t.match(await api.call('POST', '/invalidations', batch), { status: 400, text: /\[1\]/ })
    }
  })

  await t.test('act as plain bans only', async (t) => {
    const logged = []
    for (const expression of taken)
      logged.push(await invalidate(api, { type: 'ban', expression, target }))
    for (const entry of logged) t.equal((await untilEnded(api, entry)).total, 1)
  })

  const { id = 0 } = (await api.findAgent(agentName)) ?? {}
  const engineadm = `/v1/cache/${toObjectId('cache', id)}/engineadm`
  const console = callsTo(harness.coordinator.base)
  const ways = {
    'the controller': (command: string) => api.call('POST', `/agents/${id}/command`, { command }),
    'the console': (text: string) => console('POST', engineadm, { text, type: 'text/plain' }),
  }
  for (const [who, send] of Object.entries(ways))
    await t.test(`as commands of ${who} neither`, async (t) => {
      for (const expression of [...refused, ...taken]) {
        const { status } = await send(`ban ${expression}`)
        t.ok(status === 200 || status === 400, String(status))
      }
      t.match(await send('ban req.url ~ ^/fine'), { status: 200, text: /"message":""/ })
      t.match(await send('ban req.url ~ ('), { status: 200, text: /Regex/ })
    })

  await t.test('as bans of a group of the console, they have no effect either', async (t) => {
    const made = await console('POST', '/v1/group', { body: { name: 'hostile' } })
    const group = `/v1/group/${String(made.body['id'])}`
    const joined = await console('PUT', `${group}/cache/${toObjectId('cache', id)}`)
    t.equal(joined.status, 204)
    const ban = (body: object) => console('POST', `${group}/ban`, { body })
    for (const [index, expression] of refused.entries()) {
      const { status, text } = await ban({ expression })
      t.equal(status, 400, `row ${index}`)
      t.match(text, /position \d+/, `row ${index}`)
    }
    const { status, body } = await ban({ expressions: taken })
    t.match({ status, body }, { status: 200, body: { total: 1, results: [{ cacheId: /^c0/ }] } })
  })

  t.same(await readFacts(cache), before)
})

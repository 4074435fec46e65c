/** A real cache joins and leaves a deployed group of the console, checked by the VCL that it serves (docs/behaviour.md, Console groups). */
import t from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { answering, fetchMark } from '../support/observe-cache.js'
import { callsTo } from '../coordinator/console/console-client.js'
import { eventually } from '../support/eventually.js'
import {
  agentName,
  agentTag,
  deploySite,
  expectDone,
  makeSite,
  startHarness,
  untilAgent,
  untilServing,
} from './harness.js'

void t.test('a cache serves the VCL of its group while it is a member', async (t) => {
  const harness = await startHarness(t)
  const { id: agentId } = await untilAgent(harness, 'Running')
  const call = callsTo(harness.coordinator.base)
  const ask = async (status: number, method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body === undefined ? {} : { body })
    if (answer.status !== status)
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  const make = async (path: string, body: unknown) =>
    String((await ask(201, 'POST', path, body))['id'])
  const group = await make('/v1/group', { name: 'shop' })
  const vcl = await make('/v1/vcl', { name: 'shop', content: answering('shop') })
  const cache = toObjectId('cache', agentId)
  const relation = `/v1/group/${group}/cache/${cache}`
  const untilIdle = () =>
    eventually('the cache is idle', async () => (await fetchMark(harness.cache)).status === 503)

  await ask(204, 'PUT', relation)
  const deploy = () => ask(200, 'PUT', `/v1/group/${group}/vcl/${vcl}/deploy`)
  await eventually('its VCL is deployed', async () => (await deploy())['success'] === true)
  await untilServing(harness.cache, 'shop')
  t.match(await ask(200, 'GET', `/v1/group/${group}`), { caches: [cache], activeVclId: vcl })
  const seen = await harness.api.findAgent(agentName)
  t.same(
    seen?.tags.map(({ name }) => name),
    [agentTag],
    'the controller shows no tag for it',
  )

  await ask(204, 'DELETE', relation)
  await untilIdle()
  t.match(await ask(409, 'DELETE', `/v1/group/${group}`), { message: /a VCL; take/ })
  await ask(204, 'PUT', relation)
  await untilServing(harness.cache, 'shop')

  const site = await makeSite(harness, 'site')
  t.equal((await harness.api.act(site.id, 'deploy')).status, 409, 'the cache is taken')
  t.equal((await fetchMark(harness.cache)).mark, 'shop')
  await ask(204, 'DELETE', relation)
  await untilIdle()
  await eventually('its place is free', () => deploySite(harness, site).then(() => true))
  await untilServing(harness.cache, 'site-first')
  t.match(await ask(409, 'PUT', relation), { message: /"site" of the controller/ })
  expectDone(await harness.api.act(site.id, 'undeploy'))
  await eventually('it can join again', () => ask(204, 'PUT', relation).then(() => true))
  await untilServing(harness.cache, 'shop')
})

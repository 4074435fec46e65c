/** Events of a running coordinator: the result of a deploy is sent, and a stop waits for no subscriber. */
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { endOf, startClient } from '../cli/run-cli.js'
import { startCoordinator } from '../support/daemon.js'
import { heard, listen } from '../support/event-client.js'
import { eventually } from '../support/eventually.js'

void t.test('the result of a deploy is sent, and a stop ends the streams', async (t) => {
  const coordinator = await startCoordinator(t, {
    words: ['--engine', 'simulate', '--name', 'edge', '--tags', 'here'],
  })
  const { api, base } = coordinator
  const client = await listen(t, base, { token: api.token, lastEventId: 0 })
  const { data: edge } = await heard(client, 'agent', { name: 'edge', stateName: 'Running' })
  const agent = { id: Number(edge['id']), name: 'edge' }
  const looking = await listen(t, base, { token: api.token, query: `?live=${agent.id}` })
  const mainFile = await api.makeFile('main.vcl', 'vcl 4.1; backend default none;')
  const deployment = await api.makeDeployment('all', await api.findTag('here'))
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })

  t.equal((await api.act(group, 'deploy')).status, 200)

  await eventually('its place has applied', () =>
    client.of('deployment').some(({ data }) => {
      const text = JSON.stringify(data['vclgroup'])
      return text.includes('"applied":1') && text.includes('"stateName":"Active"')
    }),
  )
  await eventually('the agent holds it', () =>
    client.of('agent').some(({ data }) => {
      const { effective } = data['config'] as { effective: { revision: number | null } } // of the API
      return (effective.revision ?? 0) > 1
    }),
  )
  await heard(client, 'apilog', { path: `/api/v1/vclgroups/${group}/deploy`, status: 200 })
  const sample = await heard(looking, 'sample', { agent })
  t.ok('MAIN.cache_hit' in Object(sample.data['values']))
  const ban = { type: 'ban', expression: 'obj.http.x ~ y', target: { all: true } }
  t.equal((await api.call('POST', '/invalidations', ban)).status, 202)
  await heard(client, 'invalidation', { stateName: 'Completed', done: 1 })
  await eventually('the metric counts it', async () =>
    (await (await fetch(`${base}/metrics`)).text()).includes(
      'cachefleet_invalidation_done_seconds_count 1\n',
    ),
  )
  const follower = startClient(['events', '--json', '--after', '0', '--type', 'apilog'], {
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  })
  const ended = endOf(follower)
  t.teardown(() => follower.kill('SIGKILL'))
  let printed = ''
  follower.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text))
  await eventually('the client has the past events', () => printed.includes('/deploy"'))
  client.pause() // a client that reads nothing does not delay the stop either
  const other = await listen(t, base, { token: api.token })

  t.equal(await coordinator.daemon.stop(), 0)

  await eventually('the stream ends', () => other.closed)
  await coordinator.start()
  const next = await listen(t, base, { token: api.token, lastEventId: other.lastId })
  await api.makeTag('after')
  await heard(next, 'apilog', { path: '/api/v1/tags', status: 201 })
  t.strictSame(next.of('reset'), [], 'its ids continue')
  // The client reconnected by itself, and missed no event.
  await eventually('the client continues', () =>
    next.of('apilog').every(({ id }) => printed.includes(`{"id":${id},`)),
  )
  const ids = printed.split('\n').flatMap((line) => /^\{"id":(\d+)/.exec(line)?.[1] ?? [])
  t.equal(new Set(ids).size, ids.length, 'no event twice')
  follower.kill('SIGINT')
  t.equal(await ended, exitCodes.interrupted)
})

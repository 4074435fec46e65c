/** A group on caches of several releases: compiled on each, errors name the release, and `releases` restricts its placement. */
import t from 'tap'
import { parallel } from '../support/parallel.js'
import { eventually } from '../support/eventually.js'
import { startMixedFleet } from '../support/mixed-fleet.js'
import { expectDone, readRefusal } from './harness.js'

/** 6.0.4 does not have this backend yet. */
const late = 'vcl 4.0;\nbackend default none;\n'
const broken = 'vcl 4.0;\nbackend default none;\nsub vcl_recv { nonsense; }\n'

void t.test('a mixed fleet', parallel(), async (t) => {
  const { coordinator, replaceCache } = await startMixedFleet(t, {
    'edge-6a': '6.0.4',
    'edge-6b': '6.0.4',
    'edge-7': '7.1.1',
    'edge-9': 'vinyl-9.0.1',
  })
  const { api } = coordinator
  const mainFile = await api.makeFile('main.vcl', late)
  const web = await api.findTag('web')
  const all = await api.makeDeployment('all', web, { min: 4, max: 4 })
  const id = await api.makeGroup({ name: 'site', mainFile, deployment: all })
  const path = `/vclgroups/${id}`
  const error = /^main\.vcl line 2 pos 17: Expected '\{' got 'none'[^]*\n\((.*)\)$/
  const readReleases = (text: string): string | undefined => error.exec(text)?.[1]

  const refusal = readRefusal(await api.act(id, 'deploy'), 422)
  // A deploy ends with the first failure that leaves too few agents.
  t.match(readReleases(refusal), /^Varnish 6\.0\.4: agents? edge-6[ab](?:, edge-6b)?$/)
  const one = readRefusal(await api.act(id, 'validate'), 422)
  t.match(readReleases(one), /^Varnish 6\.0\.4: agent edge-6[ab]$/, 'one of each release')
  const each = readRefusal(await api.act(id, 'validate', '?agents=all'), 422)
  t.equal(readReleases(each), 'Varnish 6.0.4: agents edge-6a, edge-6b', 'one message for both')

  const put = (body: object) => api.call('PUT', path, body)
  expectDone(await put({ releases: ['7', 'vinyl-9'] }))
  t.match(
    readRefusal(await api.act(id, 'deploy'), 503),
    /2 can be used: .*"edge-6a": its release is Varnish 6\.0\.4/,
  )
  const two = { min: 1, max: 4 }
  expectDone(await api.call('PUT', `/deployments/${all}`, two))
  await eventually('the pending deploy is made', async () => {
    const { stateName, agentStates } = await api.readGroup(id)
    return stateName === 'Active' && agentStates.map(({ agent }) => agent.name).toSorted()
  }).then((names) => t.same(names, ['edge-7', 'edge-9']))
  expectDone(await api.act(id, 'validate'))
  expectDone(await api.act(id, 'deploy'))
  const { revision } = await api.readGroup(id)
  t.equal(revision, 1, 'an unchanged deploy creates no revision')

  await api.editFile(mainFile, broken)
  const told = readRefusal(await api.act(id, 'validate'), 422)
  t.match(told, /\(Varnish 7\.1\.1: agent edge-7; Vinyl 9\.0\.1: agent edge-9\)$/)
  expectDone(await api.act(id, 'validate', '?release=7'))
  const elsewhere = readRefusal(await api.act(id, 'validate', '?release=6.0'), 422)
  t.match(readReleases(elsewhere), /^Varnish 6\.0\.4: agent edge-6[ab]$/, 'the deployed text')
  t.equal(
    readRefusal(await api.act(id, 'validate', '?release=9'), 503),
    'no Running agent is of release 9',
  )
  t.match(readRefusal(await api.act(id, 'validate', '?release=nine'), 400), /^release must be a/)

  replaceCache('edge-7', '6.0.4')
  await eventually('the agent whose cache has another release has lost its place', async () => {
    const { agentStates, stateName } = await api.readGroup(id)
    const [place, ...others] = agentStates
    return stateName === 'Active' && place?.agent.name === 'edge-9' && others.length === 0
  })
  t.equal((await api.findAgent('edge-7'))?.engineVersion, '6.0.4')
  const { text } = await api.call('GET', `${path}/placement`)
  const reason = 'its release is Varnish 6.0.4, and the group is for the releases 7, vinyl-9'
  const rows = JSON.parse(text) as readonly { agent: { name: string }; reason: string }[] // as documented
  const passedOver = rows.filter((row) => row.reason === reason).map(({ agent }) => agent.name)
  t.same(passedOver.toSorted(), ['edge-6a', 'edge-6b', 'edge-7'])
  t.match(
    rows.filter(({ agent }) => agent.name === 'edge-9'),
    [{ chosen: true }],
  )

  replaceCache('edge-7', '7.7.0')
  await eventually('after the upgrade, it has the group again', async () => {
    const { agentStates } = await api.readGroup(id)
    return agentStates.length === 2 && agentStates.every(({ state }) => state === 'applied')
  })
})

/** `cachefleet overview`: the fleet at a glance, for people and for programs. */
import t from 'tap'
import { enrol } from '../coordinator/controller/client.js'
import { eventually } from '../support/eventually.js'
import { startFixture } from './fixture.js'

void t.test('the fleet at a glance', async (t) => {
  const fixture = await startFixture(t)
  const { api } = fixture
  const id = await enrol(api, 'edge-1')
  await fixture.json('files', 'add', '--name', 'site.vcl', '--source', 'vcl 4.1;')
  const group = await fixture.json('vclgroups', 'add', '--name', 'site', '--main-vcl', 'site.vcl')
  const errors = `GROUP.${String(group['id'])}.status_5xx`
  const intervalMs = 10_000
  const newest = Math.floor(Date.now() / intervalMs) * intervalMs
  for (const at of [newest - intervalMs, newest])
    api.service.statistics.record({
      agentId: id,
      at,
      spanMs: intervalMs,
      names: ['MAIN.client_req', 'MAIN.cache_hit', 'MAIN.cache_miss', 'MAIN.fetch_failed', errors],
      values: [1234, 75, 25, 0.5, 0.25],
    })
  await fixture.json('tags', 'add', '--name', 'web')

  const { out } = await eventually('everything is listed', async () => {
    const ran = await fixture.cli(['overview'])
    return /created tag web/.test(ran.out) ? ran : undefined
  })

  t.match(out, /^caches +1 Running\ngroups +1 Inactive\n/)
  t.match(out, /^TRAFFIC +NOW +AN HOUR AGO\nrequests +1\.23k\/s +-\nhit ratio +75\.0 % +-\n/m)
  t.match(out, /^failed fetches +0\.50\/s +-$\nerrors +0\.25\/s +-$/m)
  t.match(out, /^WORST CACHES +REQUESTS .*\nedge-1 +1\.23k\/s +75\.0 % +0\.50\/s$/m)
  t.match(out, /^CHANGED +BY +WHAT\n.* root +created tag web$/m)

  const json = await fixture.json('overview')
  t.match(json, { agents: { Running: 1 }, now: { requests: 1234 } })
})

/** Whether a cache is consistent, and its name in the console. */
import fc from 'fast-check'
import t from 'tap'
import {
  judgeConsistency,
  type CacheObservation,
  type SeenVcl,
} from '../../../src/coordinator/console/caches/cache-consistency.js'
import { composeCacheName, readCacheHost } from '../../../src/resources/cache-name.js'
import { idleEngine, type DesiredEngine } from '../../../src/vcl/desired-engine.js'

const vcl = (name: string, status = 'available', label: string | null = null): SeenVcl => ({
  name,
  status,
  label,
})
const shown = (value: string, unit = 'seconds') => ({
  value,
  unit,
  default: '120.000',
  description: 'how long',
})
const observation = (changes: Partial<CacheObservation>): CacheObservation => ({
  vcls: [vcl('cf-1-a-1', 'active')],
  params: new Map(),
  isEffective: true,
  ...changes,
})
const desired = (changes: Partial<DesiredEngine>): DesiredEngine => ({
  load: [],
  labels: [],
  active: 'cf-1-a-1',
  ...changes,
})

void t.test('consistency depends on the active VCL and labels, not on other VCLs', (t) => {
  const labels = [{ label: 'cf-l-1', program: 'cf-1-a-1' }]
  const routed = desired({ active: 'cf-r-b', labels })
  const seen = (...vcls: SeenVcl[]) => judgeConsistency(routed, observation({ vcls })).vclConsistent
  const right = [vcl('cf-r-b', 'active'), vcl('cf-l-1', 'available', 'cf-1-a-1')]
  t.ok(seen(...right))
  t.ok(seen(...right, vcl('boot')))
  t.notOk(seen(vcl('cf-r-b', 'active')), 'the label is missing')
  t.notOk(seen(vcl('cf-r-b', 'active'), vcl('cf-l-1', 'available', 'boot')), 'the label was moved')
  t.notOk(seen(vcl('boot', 'active'), vcl('cf-r-b'), ...right.slice(1)), 'another VCL is active')
  t.match(judgeConsistency(routed, observation({ vcls: right })), { vclName: 'cf-r-b' })
  t.match(judgeConsistency(routed, observation({ vcls: [] })), {
    vclName: '',
    vclConsistent: false,
  })
  t.end()
})

void t.test('a foreign VCL is consistent before the first deploy if the agent agrees', (t) => {
  const vcls = [vcl('boot', 'active')]
  t.ok(judgeConsistency(idleEngine, observation({ vcls })).vclConsistent)
  t.notOk(judgeConsistency(idleEngine, observation({ vcls, isEffective: false })).vclConsistent)
  t.notOk(judgeConsistency(desired({}), observation({ vcls })).vclConsistent, 'not after a deploy')
  t.end()
})

void t.test('the changeset lists the parameters that differ from the desired state', (t) => {
  const params = [
    { name: 'default_ttl', value: '10' },
    { name: 'default_grace', value: '20' },
    { name: 'gone', value: '1' },
    { name: 'cc_command', value: 'nobody may set it' },
  ]
  const seen = new Map([
    ['default_ttl', shown('10.000')],
    ['default_grace', shown('30.000')],
    ['default_keep', shown('99.000')],
  ])
  const { paramChangeset } = judgeConsistency(desired({ params }), observation({ params: seen }))
  t.same([...paramChangeset.keys()], ['default_grace', 'gone'])
  t.same(paramChangeset.get('default_grace'), shown('30.000'))
  t.match(paramChangeset.get('gone'), { value: '', description: /no such parameter/ })
  t.end()
})

void t.test('a cache with the desired parameters is consistent', (t) => {
  const values = fc.dictionary(fc.stringMatching(/^[a-z]{3,8}$/), fc.stringMatching(/^[0-9]{1,5}$/))
  fc.assert(
    fc.property(values, fc.boolean(), (wanted, isEffective) => {
      const params = Object.entries(wanted).map(([name, value]) => ({ name, value }))
      const seen = new Map(params.map(({ name, value }) => [name, shown(`${value}.000`)]))
      const judged = judgeConsistency(
        desired({ params }),
        observation({ params: seen, isEffective }),
      )
      return judged.vclConsistent && judged.paramChangeset.size === 0
    }),
  )
  t.end()
})

void t.test('the name of a cache is made of its host, port and working directory', (t) => {
  const cache = {
    name: 'edge-1',
    hostName: 'web7',
    engineHost: '127.0.0.1',
    enginePort: 6081,
    engineWorkingDirectory: '/run/varnish',
  }
  t.equal(composeCacheName(cache), 'web7:6081_/run/varnish')
  t.equal(composeCacheName({ ...cache, engineWorkingDirectory: null }), 'web7:6081_edge-1')
  for (const engineHost of ['127.8.0.1', 'LocalHost', '::1', '[::1]', '::', '0.0.0.0', '*', ''])
    t.equal(readCacheHost({ ...cache, engineHost }), 'web7', engineHost)
  for (const engineHost of ['10.0.0.1', 'cache.example', '2001:db8::1', '1270.example', '::10'])
    t.equal(readCacheHost({ ...cache, engineHost }), engineHost)
  t.equal(readCacheHost({ ...cache, hostName: '' }), 'edge-1', 'earlier agents send no host name')
  t.end()
})

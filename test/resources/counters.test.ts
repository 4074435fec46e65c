/** Names of counters: older names, backends, and the selection of counters to read. */
import fc from 'fast-check'
import t from 'tap'
import { selectCounters } from '../../src/agent/counters/counter-selection.js'
import {
  defaultCounters,
  kindOfCounter,
  nameDomain,
  parseFigure,
  resolveCounter,
} from '../../src/resources/counters.js'

void t.test('each documented name resolves to a counter that is kept', (t) => {
  const kept = new Set(defaultCounters.map(({ name }) => name))
  const names = [
    ...['cache_hit', 'cache_miss', 'cache_hitpass', 'client_req', 's_hdrbytes', 's_bodybytes'],
    ...['client_conn', 'backend_fail', 'n_wrk_drop', 'client_drop', 'n_wrk_queued'],
    ...['n_lru_nuked', 'SMF.s0.c_bytes'],
  ]
  for (const name of names) t.ok(kept.has(resolveCounter(name) ?? ''), name)
  t.equal(resolveCounter('client_conn'), 'MAIN.sess_conn')
  t.equal(resolveCounter('MAIN.s_bodybytes'), 'MAIN.s_resp_bodybytes')
  t.equal(kept.size, defaultCounters.length, 'no duplicates')
  t.end()
})

void t.test('a backend has one name in every VCL, at every address and in every release', (t) => {
  const idents = [
    ...['default', 'boot.default', 'cf-12-0123abcd-7.default', 'reload_20201120.default'],
    ...['default(127.0.0.1,,8080)', 'boot.default(127.0.0.1:80)', 'boot.default.(10.0.0.1).(ttl)'],
  ]
  for (const ident of idents) t.equal(resolveCounter(`VBE.${ident}.req`), 'VBE.default.req', ident)
  t.equal(
    resolveCounter('VBE.boot.goto.00000b9c.(104.31.67.183).(http://example.com:80).req'),
    'VBE.goto.req',
    'backends made at run time share one series',
  )
  t.end()
})

void t.test('resolving a name twice gives the same result as once, and never throws', (t) => {
  const parts = fc.constantFrom('VBE', 'MAIN', 'SMA', 'boot', 's0', '.', 'req', '(1.2.3.4)', 'é')
  const anyName = fc.oneof(
    fc.string(),
    fc.array(parts).map((all) => all.join('.')),
  )
  fc.assert(
    fc.property(anyName, (name) => {
      const once = resolveCounter(name)
      if (once !== null) t.equal(resolveCounter(once), once)
    }),
  )
  for (const none of ['', '.', 'MAIN.', 'MAIN', 'cache hit', 'VBE.req', 'a/b', 'x'.repeat(300)])
    t.equal(resolveCounter(none), null, none)
  t.end()
})

void t.test('levels of storage and backends are gauges, misnamed ones are counters', (t) => {
  for (const name of ['SMA.s0.g_bytes', 'SMF.disk.g_space', 'VBE.a.conn', 'MAIN.threads'])
    t.equal(kindOfCounter(name), 'gauge', name)
  // 6.0 declares these as gauges.
  for (const name of ['MAIN.n_lru_nuked', 'MAIN.n_expired', 'MAIN.n_purges', 'SMA.s0.c_bytes'])
    t.equal(kindOfCounter(name), 'counter', name)
  t.end()
})

void t.test(
  'read are the default counters, some of each backend and storage, and configured ones',
  (t) => {
    const usual = selectCounters()
    for (const name of ['MAIN.cache_hit', 'VBE.any.thing.req', 'SMA.big.g_bytes']) t.ok(usual(name))
    for (const name of ['LCK.ban.locks', 'VBE.boot.a.busy', 'MAIN.esi_errors']) t.notOk(usual(name))
    const more = selectCounters(['VBE.*.busy', 'esi_errors', 'LCK.ban.locks'])
    for (const name of ['LCK.ban.locks', 'VBE.boot.a.busy', 'MAIN.esi_errors']) t.ok(more(name))
    t.notOk(more('LCK.exp.locks'))
    t.throws(() => selectCounters(['no such']), { kind: 'invalid', message: /no such.*MAIN\.esi/ })
    t.end()
  },
)

void t.test('figures of groups and domains are distinguished from counters', (t) => {
  const cases = [
    ['GROUP.7.requests', { groupId: 7, fqdn: null, figure: 'requests' }],
    ['DOMAIN.www.example.hits', { groupId: null, fqdn: 'www.example', figure: 'hits' }],
    ['DOMAIN.*.example.hits', { groupId: null, fqdn: '*.example', figure: 'hits' }],
    ['DOMAIN.7:*.example.ttfb_5', { groupId: 7, fqdn: '*.example', figure: 'ttfb_5' }],
    ['DOMAIN.7.hits', { groupId: null, fqdn: '7', figure: 'hits' }],
    ['GROUP.shop.requests', null],
    ['MAIN.cache_hit', null],
  ] as const
  for (const [name, figure] of cases) {
    t.same(parseFigure(name), figure, name)
    t.equal(resolveCounter(name), name)
  }
  t.equal(nameDomain(7, '*.example'), 'DOMAIN.7:*.example')
  t.end()
})

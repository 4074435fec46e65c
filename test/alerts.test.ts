/** The alert rules over time, evaluated by Prometheus: each fault fires its own alert, and a healthy fleet fires none. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runPromtool } from './support/promtool.js'
import { root } from './support/root.js'

const rulesFile = join(root, 'config', 'alert-rules.yaml')

/** One hour of a metric, one value per minute: `0x60` is constant, `0+60x60` counts up. */
type Series = readonly [metric: string, values: string]

const coordinator = 'job="cachefleet", instance="one"'
const agent = 'job="cachefleet-agent", instance="edge"'

const well: readonly Series[] = [
  [`up{${coordinator}}`, '1x60'],
  [`cachefleet_agents{${coordinator}, state="Running"}`, '5x60'],
  [`cachefleet_agents{${coordinator}, state="Down"}`, '0x60'],
  [`cachefleet_agents{${coordinator}, state="Failing"}`, '0x60'],
  [`cachefleet_agents{${coordinator}, state="Locked"}`, '0x60'],
  ...['below-min', 'all-backends-sick', 'drift', 'behind-on-invalidations'].map((code): Series => [
    `cachefleet_problems{${coordinator}, code="${code}"}`,
    '0x60',
  ]),
  [`cachefleet_certificate_expiry_seconds{${coordinator}}`, '2592000x60'],
  [`cachefleet_store_up{${coordinator}}`, '1x60'],
  [`cachefleet_bus_up{${coordinator}}`, '1x60'],
  [`cachefleet_deploy_seconds_count{${coordinator}, result="ok"}`, '0+1x60'],
  [`cachefleet_deploy_seconds_count{${coordinator}, result="refused"}`, '0x60'],
  [
    `cachefleet_api_request_seconds_count{${coordinator}, route="/agents", status="200"}`,
    '0+60x60',
  ],
  [`cachefleet_api_request_seconds_count{${coordinator}, route="/agents", status="503"}`, '0x60'],
  [`cachefleet_api_request_seconds_bucket{${coordinator}, route="/agents", le="1"}`, '0+60x60'],
  [`cachefleet_api_request_seconds_bucket{${coordinator}, route="/agents", le="5"}`, '0+60x60'],
  [`cachefleet_api_request_seconds_bucket{${coordinator}, route="/agents", le="+Inf"}`, '0+60x60'],
  [`cachefleet_stats_write_seconds_count{${coordinator}}`, '0+12x60'],
  [`nodejs_eventloop_lag_p99_seconds{${coordinator}}`, '0.01x60'],
  [`cachefleet_cache_up{${agent}}`, '1x60'],
  [`cachefleet_cache_main_cache_hit_total{${agent}}`, '0+90x60'],
  [`cachefleet_cache_main_cache_miss_total{${agent}}`, '0+10x60'],
  [`cachefleet_cache_main_backend_fail_total{${agent}}`, '0+1x60'],
  [`cachefleet_cache_main_sess_dropped_total{${agent}}`, '0x60'],
]

/** By alert: the one series that is faulty while all others are healthy; only this alert may fire. */
const wrong: readonly (readonly [alert: string, series: Series])[] = [
  ['CoordinatorAway', [`up{${coordinator}}`, '0x60']],
  ['AgentsDown', [`cachefleet_agents{${coordinator}, state="Down"}`, '1x60']],
  ['CachesFailing', [`cachefleet_agents{${coordinator}, state="Failing"}`, '1x60']],
  ['AgentsLocked', [`cachefleet_agents{${coordinator}, state="Locked"}`, '1x60']],
  ['GroupsBelowMin', [`cachefleet_problems{${coordinator}, code="below-min"}`, '1x60']],
  ['BackendsSick', [`cachefleet_problems{${coordinator}, code="all-backends-sick"}`, '1x60']],
  ['DriftStays', [`cachefleet_problems{${coordinator}, code="drift"}`, '1x60']],
  [
    'InvalidationsBehind',
    [`cachefleet_problems{${coordinator}, code="behind-on-invalidations"}`, '1x60'],
  ],
  ['CertificateExpires', [`cachefleet_certificate_expiry_seconds{${coordinator}}`, '86400x60']],
  ['StoreAway', [`cachefleet_store_up{${coordinator}}`, '0x60']],
  ['BusAway', [`cachefleet_bus_up{${coordinator}}`, '0x60']],
  [
    'DeploysFailing',
    [`cachefleet_deploy_seconds_count{${coordinator}, result="refused"}`, '0+1x60'],
  ],
  [
    'ApiErrors',
    [
      `cachefleet_api_request_seconds_count{${coordinator}, route="/agents", status="503"}`,
      '0+6x60',
    ],
  ],
  [
    'ApiSlow',
    [`cachefleet_api_request_seconds_bucket{${coordinator}, route="/agents", le="1"}`, '0+30x60'],
  ],
  ['StatisticsNotWritten', [`cachefleet_stats_write_seconds_count{${coordinator}}`, '7x60']],
  ['EventLoopSlow', [`nodejs_eventloop_lag_p99_seconds{${coordinator}}`, '0.5x60']],
  ['CacheCountersUnreadable', [`cachefleet_cache_up{${agent}}`, '0x60']],
  ['HitRatioLow', [`cachefleet_cache_main_cache_miss_total{${agent}}`, '0+200x60']],
  ['BackendConnectionsFail', [`cachefleet_cache_main_backend_fail_total{${agent}}`, '0+120x60']],
  ['ThreadsExhausted', [`cachefleet_cache_main_sess_dropped_total{${agent}}`, '0+1x60']],
]

/** A promtool test that expects exactly these alerts to fire after an hour. */
function expectRinging(series: readonly Series[], alerts: readonly string[]): object {
  return {
    interval: '1m',
    input_series: series.map(([metric, values]) => ({ series: metric, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '60m',
        exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
      },
    ],
  }
}

void t.test('each alert fires for its own fault, and for no other', async (t) => {
  const file = join(t.testdir(), 'alerts.yaml')
  const tests = [
    expectRinging(well, []),
    // A fleet without caches writes no statistics.
    expectRinging(
      well.map(([metric, values]) => [
        metric,
        /state="Running"|stats_write/.test(metric) ? '0x60' : values,
      ]),
      [],
    ),
    ...wrong.map(([alert, [metric, values]]) => {
      const series = well.map((one): Series => (one[0] === metric ? [metric, values] : one))
      return expectRinging(series, [alert])
    }),
  ]
  const text = JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests })
  await writeFile(file, text)
  t.equal(runPromtool(['test', 'rules', file]), '')
  const ruled = [...(await readFile(rulesFile, 'utf8')).matchAll(/alert: (\w+)/g)]
  t.same(
    ruled.map(([, name]) => name),
    wrong.map(([alert]) => alert),
  )
})

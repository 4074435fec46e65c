/** The dashboard and the alert rules use only metrics that the daemon exposes, and Prometheus's own checker accepts all of it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { exposeCounters } from '../src/agent/counters/exposition.js'
import { createMetrics } from '../src/coordinator/http/metrics.js'
import { agentStates } from '../src/resources/agent-state.js'
import { defaultCounters } from '../src/resources/counters.js'
import { readDashboard } from './support/dashboard.js'
import { runPromtool } from './support/promtool.js'
import { root } from './support/root.js'

const rulesFile = join(root, 'config', 'alert-rules.yaml')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
}

const readCoordinator = (): Promise<string> =>
  createMetrics(() => Promise.resolve({ Running: 1 })).read()

const readAgent = (): string =>
  exposeCounters(new Map(defaultCounters.map(({ name }) => [name, 1n])))

/** The names of all metrics, including the series of histograms. */
async function readMetricNames(): Promise<ReadonlySet<string>> {
  const text = (await readCoordinator()) + readAgent()
  const told = new Set<string>()
  for (const [, name = '', kind] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    told.add(name)
    if (kind === 'histogram')
      for (const end of ['bucket', 'count', 'sum']) told.add(`${name}_${end}`)
  }
  return told
}

function namesIn(expression: string): string[] {
  return expression.match(/\b(?:cachefleet|nodejs|process)_\w+/g) ?? []
}

void t.test('every metric in use is exposed', async (t) => {
  const told = await readMetricNames()
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as Rules
  const { panels } = await readDashboard()
  const expressions = [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  t.ok(expressions.length > 30)
  t.same(
    expressions.flatMap(namesIn).filter((name) => !told.has(name)),
    [],
  )
  const states = expressions.flatMap((text) => [...text.matchAll(/state="(\w+)"/g)])
  t.ok(states.every(([, state = '']) => state in agentStates))
})

void t.test('promtool accepts the alert rules', (t) => {
  t.equal(runPromtool(['check', 'rules', rulesFile]), '')
  t.end()
})

void t.test('promtool accepts each query of the dashboard as a rule', async (t) => {
  const { panels, templating } = await readDashboard()
  const queries = panels.flatMap(({ id, targets }) =>
    targets.map(({ refId, expr }) => ({ record: `panel:${id}:${refId}`, expr })),
  )
  const selectors = templating.list.flatMap(({ name, query }) => {
    const [, expr] = /^label_values\((.*), \w+\)$/.exec(query) ?? []
    return expr === undefined ? [] : [{ record: `variable:${name}`, expr }]
  })
  t.equal(selectors.length, 2)
  const rules = [...queries, ...selectors].map(({ record, expr }) => ({
    record,
    // As Grafana replaces them.
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:job|instance)\b/g, '.+'),
  }))
  const file = join(t.testdir(), 'dashboard.yaml')
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  t.equal(runPromtool(['check', 'rules', file]), '')
  t.notMatch(rules.map(({ expr }) => expr).join('\n'), /\$/, 'no variable remains')
})

/** prom-client's own metrics, and the cache's own names: there, `s_` means a sum, not seconds. */
const namedByOthers =
  /^(?:nodejs_active_\w+_total non-counter|cachefleet_cache_main_s_\w+ .*abbreviated)/

void t.test('promtool accepts the metrics of coordinators and agents', async (t) => {
  for (const text of [await readCoordinator(), readAgent()]) {
    const complaints = runPromtool(['check', 'metrics'], text).replace(/^3: /, '').split('\n')
    t.same(
      complaints.filter((line) => line !== '' && !namedByOthers.test(line)),
      [],
    )
  }
})

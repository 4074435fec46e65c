/** The Grafana dashboard follows the rules of Grafana's own dashboard-linter: each panel can be filtered and is described. */
import t from 'tap'
import { readDashboard, type Dashboard } from './support/dashboard.js'

const source = '${datasource}'

function listExpressions({ panels }: Dashboard): readonly string[] {
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

/** The metrics in queries, each with its matchers and range. */
function listSelectors(dashboard: Dashboard): readonly string[] {
  return listExpressions(dashboard).flatMap(
    (text) => text.match(/\b(?:cachefleet|nodejs|process)_\w+(?:\{[^}]*\})?(?:\[[^\]]*\])?/g) ?? [],
  )
}

void t.test('each query is filtered by data source, job and instance', async (t) => {
  const dashboard = await readDashboard()
  const [first, ...queried] = dashboard.templating.list
  t.match(first, {
    name: 'datasource',
    label: 'Data source',
    type: 'datasource',
    query: 'prometheus',
  })
  t.same(
    queried.map(({ name, label }) => [name, label]),
    [
      ['job', 'Job'],
      ['instance', 'Instance'],
    ],
  )
  for (const variable of queried)
    t.match(variable, {
      type: 'query',
      datasource: { uid: source },
      multi: true,
      allValue: '.+',
      // Refreshed when the time range changes.
      refresh: 2,
    })
  const selectors = listSelectors(dashboard)
  t.ok(selectors.length > 25)
  for (const selector of selectors) {
    t.match(selector, 'job=~"$job"')
    t.match(selector, 'instance=~"$instance"')
  }
})

void t.test('rates follow the displayed time range, and no raw counter is displayed', async (t) => {
  const dashboard = await readDashboard()
  for (const text of listExpressions(dashboard)) {
    t.notMatch(text, /\birate\(/)
    for (const [, range] of text.matchAll(/\brate\([^[]*\[([^\]]*)\]/g))
      t.equal(range, '$__rate_interval', text)
    for (const [, before] of text.matchAll(/(\w*)\(?\bcachefleet_\w+_(?:total|bucket|count)\b/g))
      t.match(before, /^(?:rate|increase)$/, text)
  }
})

void t.test('each panel has a title, a description, a unit and a place of its own', async (t) => {
  const { panels, editable } = await readDashboard()
  t.equal(editable, false, 'users edit a copy, and can still import the next version')
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const taken = new Set<string>()
  const overlapping = new Set<string>()
  for (const { title, description, datasource, fieldConfig, targets, gridPos } of panels) {
    t.ok(title.length > 0 && description.endsWith('.'), title)
    t.equal(datasource.uid, source)
    t.match(fieldConfig.defaults.unit, /^\w+$/)
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length)
    t.ok(targets.length > 0 && gridPos.x + gridPos.w <= 24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        if (taken.has(`${x} ${y}`)) overlapping.add(title)
        taken.add(`${x} ${y}`)
      }
  }
  t.same([...overlapping], [])
})

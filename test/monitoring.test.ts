/** The dashboard and the alert rules ask for what the daemon really tells, and Prometheus's own checker accepts them. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { exposeCounters } from '../src/agent/counters/exposition.js'
import { createMetrics } from '../src/coordinator/http/metrics.js'
import { agentStates } from '../src/domain/agent-state.js'
import { defaultCounters } from '../src/domain/counters.js'
import { root } from './support/root.js'

const folder = join(root, 'config')
const rulesFile = join(folder, 'alert-rules.yaml')
const dashboardFile = join(folder, 'grafana-dashboard.json')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

/** Names of metrics, with those that a histogram has. */
async function readTold(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics(() => Promise.resolve({ Running: 1 }))
  const totals = new Map(defaultCounters.map(({ name }) => [name, 1n]))
  const text = (await metrics.read()) + exposeCounters(totals)
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

void t.test('everything that is asked for is told', async (t) => {
  const told = await readTold()
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as Rules
  const { panels } = JSON.parse(await readFile(dashboardFile, 'utf8')) as Dashboard
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

void t.test('Prometheus accepts the rules, where it is installed', (t) => {
  const checked = spawnSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' })
  if (checked.error === undefined) t.equal(checked.status, 0, checked.stderr)
  else t.match(checked.error.message, /ENOENT/)
  t.end()
})

/** From the backends that caches see sick to the problems of a group, as pure functions. */
import fc from 'fast-check'
import t from 'tap'
import { judgeGroup } from '../../../src/coordinator/backends/backend-facts.js'
import {
  findHealthChanges,
  type HealthRows,
} from '../../../src/coordinator/backends/health-changes.js'
import { findBackendProblems } from '../../../src/coordinator/problems/find-backend-problems.js'
import { toProblems } from '../../../src/coordinator/problems/make-problem.js'

const names = ['a', 'b', 'c', 'd', 'e']
/** By backend: the agents that serve it, and those of them that see it sick. */
const anyGroup = fc.dictionary(
  fc.constantFrom(...names),
  fc.record({ served: fc.integer({ min: 1, max: 9 }), sick: fc.nat({ max: 9 }) }),
  { minKeys: 1 },
)

void t.test('sick backends are one problem, a worse one when none is healthy', (t) => {
  fc.assert(
    fc.property(anyGroup, fc.nat({ max: 2 }), (group, omittedHealthy) => {
      const rows = Object.entries(group).map(([name, { served, sick }]) => ({
        name,
        served,
        sick: Math.min(sick, served),
      }))
      const ill = rows.filter(({ sick }) => sick > 0)
      const agents = [{ id: 7, name: 'edge' }]
      const facts =
        ill.length === 0
          ? undefined
          : judgeGroup(
              {
                since: 1_000,
                lastSince: 2_000,
                agents,
                backends: new Map(ill.map(({ name, sick }) => [name, sick])),
              },
              {
                agents: new Map(rows.map(({ name, served }) => [name, served])),
                omittedHealthy,
                omittedSick: 0,
              },
            )
      const found = toProblems(findBackendProblems(facts, 'shop'), () => Number.NaN)
      if (ill.length === 0) return found.length === 0
      const isAll = omittedHealthy === 0 && rows.every(({ served, sick }) => sick === served)
      const wanted = isAll
        ? { code: 'all-backends-sick', severity: 3, since: new Date(2_000).toISOString() }
        : { code: 'backend-sick', severity: 2, since: new Date(1_000).toISOString() }
      const told = found.map(({ code, severity, since }) => ({ code, severity, since }))
      return JSON.stringify(told) === JSON.stringify([wanted])
    }),
  )
  t.end()
})

void t.test('the message names the worst backends and counts the rest', (t) => {
  const backends = new Map([...names.map((name, n) => [name, 5 - n] as const)])
  const facts = judgeGroup(
    { since: 1, lastSince: 1, agents: [], backends },
    {
      agents: new Map([...names, 'f'].map((name) => [name, 5])),
      omittedHealthy: 0,
      omittedSick: 0,
    },
  )
  t.match(findBackendProblems(facts, 'shop'), [
    {
      message:
        '5 of 6 backends are sick: a (5 caches), b (4 of 5 caches), c (3 of 5 caches) and 2 more',
      remedy: /backends list --filter vclGroup\.name=shop/,
    },
  ])
  t.end()
})

const anyVcl = fc.record({
  name: fc.constantFrom('cf-1-aaaaaaaa-1', 'cf-1-bbbbbbbb-2', 'boot'),
  healthy: fc.subarray(names),
  sick: fc.array(
    fc.record({ name: fc.constantFrom(...names), since: fc.option(fc.nat({ max: 9_000 })) }),
    { maxLength: 5 },
  ),
  omitted: fc.record({ healthy: fc.nat({ max: 2 }), sick: fc.nat({ max: 2 }) }),
})
const anyReport = fc.array(anyVcl, { maxLength: 3 })
const nothing: HealthRows = { served: [], sick: [] }

void t.test('changes lead to the reported state, and a repeated report changes nothing', (t) => {
  const now = 5_000
  const keyOf = (row: object) => JSON.stringify(Object.entries({ ...row, since: 0 }))
  const apply = (
    known: HealthRows,
    vcls: Parameters<typeof findHealthChanges>[1][number]['vcls'],
  ) => {
    const { written, removed } = findHealthChanges(known, [{ agentId: 7, vcls }], now)
    const isSame = (a: { vcl: string }, b: { vcl: string }) => a.vcl === b.vcl
    const rows = {
      served: [
        ...known.served.filter(
          (row) => ![...removed.served, ...written.served].some((other) => isSame(row, other)),
        ),
        ...written.served,
      ],
      sick: [
        ...known.sick.filter((row) => !removed.sick.some((other) => keyOf(other) === keyOf(row))),
        ...written.sick,
      ],
    }
    return { rows, changed: Object.values({ ...written, ...removed }).flat().length }
  }
  fc.assert(
    fc.property(anyReport, anyReport, (first, second) => {
      const before = apply(nothing, first).rows
      const after = apply(before, second)
      const fresh = apply(nothing, second).rows
      const sorted = (rows: readonly object[]) => rows.map(keyOf).toSorted()
      return (
        sorted(after.rows.served).join() === sorted(fresh.served).join() &&
        sorted(after.rows.sick).join() === sorted(fresh.sick).join() &&
        after.rows.sick.every(({ since }) => since <= now) &&
        apply(after.rows, second).changed === 0
      )
    }),
  )
  t.end()
})

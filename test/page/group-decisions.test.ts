/** What the page decides about groups without a browser: the changes of a deploy, its caches, its progress. */
import fc from 'fast-check'
import t from 'tap'
import { agentStates } from '../../src/resources/agent-state.js'
import type { Group, Place } from '../../src/resources/vclgroup.js'
import {
  compareFiles,
  compareNames,
  isChanged,
  pinGroup,
} from '../../src/page/views/group/compare-pins.js'
import { compareRouting } from '../../src/page/views/group/compare-routing.js'
import { readGroupFields, toGroupBody } from '../../src/page/views/group/group-fields.js'
import { nameDeployments } from '../../src/page/views/group/name-deployments.js'
import { groupFailures } from '../../src/page/parts/group-failures.js'
import { measureProgress, stepOf } from '../../src/page/views/group/place-steps.js'
import { formatNames } from '../../src/page/parts/format-names.js'
import { countPlaces, filterGroups } from '../../src/page/views/groups/filter-groups.js'
import { nameProblem, rankGroup } from '../../src/page/views/groups/judge-group.js'

const pin = (id: number, version: number) => ({ id, name: `file-${id}`, version })
const pins = fc
  .record({
    main: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
    includes: fc.uniqueArray(fc.integer({ min: 1, max: 6 })),
    version: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ main, includes, version }) => ({
    mainVCL: pin(...main),
    includes: includes.map((id) => pin(id, version)),
  }))

void t.test('each file of both sides is compared once, and no file with itself', (t) => {
  fc.assert(
    fc.property(fc.option(pins), pins, (before, after) => {
      const changes = compareFiles(before, after)
      const there = changes.filter(({ to }) => to !== null).length
      const gone = changes.filter(({ from }) => from !== null).length
      return (
        there === 1 + after.includes.length &&
        gone === (before ? 1 + before.includes.length : 0) &&
        changes[0]?.isMain === true
      )
    }),
  )
  fc.assert(fc.property(pins, (one) => !compareFiles(one, one).some(isChanged)))
  t.end()
})

void t.test('the next deploy uses the newest versions, except for a pinned main VCL', (t) => {
  const includes = [{ id: 2, name: 'acl.vcl' }]
  const main = { id: 1, name: 'main.vcl' }
  const files = [pin(1, 5), pin(2, 7)]
  const versions = (group: Pick<Group, 'mainVCL' | 'includes'>, known = files) => {
    const next = pinGroup(group, known)
    return next && [next.mainVCL.version, ...next.includes.map(({ version }) => version)]
  }

  t.same(versions({ mainVCL: main, includes }), [5, 7])
  t.same(versions({ mainVCL: { ...main, version: 3 }, includes }), [3, 7])
  t.equal(versions({ mainVCL: main, includes }, [pin(1, 5)]), null, 'a version is unknown')
  t.equal(versions({ mainVCL: null, includes }), null)
  t.same(compareNames(['a', 'b'], ['b', 'c']), [
    { name: 'b', what: 'kept' },
    { name: 'c', what: 'added' },
    { name: 'a', what: 'removed' },
  ])
  t.end()
})

void t.test('added and removed routing lines are shown, once for caches with the same', (t) => {
  const on = (id: number, ...lines: readonly string[]) => ({
    agent: { id, name: `edge-${id}` },
    source: ['vcl 4.0;', ...lines].join('\n'),
  })

  const changes = compareRouting(
    [on(1, 'if a', 'if b'), on(2, 'if a', 'if b'), on(3, 'if a'), on(4, 'if b')],
    [on(1, 'if a', 'if c'), on(2, 'if a', 'if c'), on(3, 'if a'), on(5, 'if c')],
  )

  t.same(changes, [
    { diff: '-if b\n+if c', agents: ['edge-1', 'edge-2'] },
    { diff: '-vcl 4.0;\n-if b', agents: ['edge-4'] },
    { diff: '+vcl 4.0;\n+if c', agents: ['edge-5'] },
  ])
  t.end()
})

void t.test('pinned deployments are named if their names are known', (t) => {
  const pinned = { deployments: [{ id: 1 }, { id: 2 }, { id: 3 }] }
  const reasons = [{ deployment: { id: 2, name: 'us' } }, { deployment: null }]

  const names = nameDeployments(pinned, [{ id: 1, name: 'eu' }], reasons)

  t.same(names, ['eu', 'us', 'deployment 3'])
  t.end()
})

const place = (id: number, state: Place['state'], error: string | null = null): Place => ({
  agent: { id, name: `edge-${id}` },
  state,
  error,
  revision: null,
  deployedAt: null,
})

void t.test('a deploy loads on all caches before it switches, and shows both', (t) => {
  const places = [place(1, 'applying'), place(2, 'wanted'), place(3, 'failed', 'line 3: no')]
  const group = { stateName: 'Deploying', revision: 4, agentStates: places }
  const steps = (at: typeof group, before: number | null) =>
    at.agentStates.map((one) => stepOf(one, at, before))

  t.same(steps(group, 4), ['loading', 'loaded', 'failed'])
  const progress = (at: typeof group, before: number) => measureProgress(at, before, new Map())
  t.same(progress(group, 4), { done: 1, all: 3, failed: 1, away: 0, verb: 'loaded' })
  t.same(steps({ ...group, revision: 5 }, 4), ['switching', 'switching', 'failed'])
  const done = { stateName: 'Active', revision: 5, agentStates: [place(1, 'applied')] }
  t.same(progress(done, 4), { done: 1, all: 1, failed: 0, away: 0, verb: 'switched' })
  t.equal(progress({ ...done, agentStates: [] }, 4), null)
  t.equal(progress({ ...done, revision: 4 }, 4), null, 'no effect is visible yet')
  t.end()
})

void t.test('a cache that is Down is never counted as done', (t) => {
  const { Down, Failing } = agentStates
  const places = [place(1, 'applied'), place(2, 'wanted'), place(3, 'failed'), place(4, 'applied')]
  const group = { stateName: 'Deploying', revision: 4, agentStates: places }

  t.same(measureProgress(group, 4, new Map([[2, Down]])), {
    done: 2,
    all: 4,
    failed: 1,
    away: 1,
    verb: 'loaded',
  })
  const away = new Map([2, 3, 4].map((id) => [id, id === 3 ? Failing : Down]))
  t.same(measureProgress({ ...group, stateName: 'Degraded', revision: 5 }, 4, away), {
    done: 1,
    all: 4,
    failed: 1,
    away: 2,
    verb: 'switched',
  })
  const applying = [place(1, 'applied'), place(2, 'applying')]
  t.same(measureProgress({ ...group, agentStates: applying }, null, new Map([[2, Down]])), {
    done: 1,
    all: 2,
    failed: 0,
    away: 1,
    verb: 'switched',
  })
  t.end()
})

void t.test('equal failures are shown once, with their caches', (t) => {
  const places = [place(1, 'failed', 'a'), place(2, 'failed', 'a'), place(3, 'failed', 'b')]

  t.same(groupFailures([...places, place(4, 'applied')]), [
    { error: 'a', agents: ['edge-1', 'edge-2'] },
    { error: 'b', agents: ['edge-3'] },
  ])
  t.equal(formatNames(['a', 'b']), 'a, b')
  t.equal(formatNames(['a', 'b', 'c', 'd', 'e', 'f', 'g']), 'a, b, c, d, e and 2 more')
  t.end()
})

const group: Group = {
  id: 1,
  name: 'shop',
  organization: null,
  root: false,
  keepOnFailure: true,
  deployed: true,
  console: false,
  mainVCL: { id: 1, name: 'main.vcl' },
  includes: [],
  deployments: [{ id: 3, name: 'eu' }],
  tests: [],
  requireTests: false,
  domains: [{ id: 2, fqdn: 'www.example.com' }],
  state: 1,
  stateName: 'Active',
  revision: 1,
  agentStates: [place(1, 'applied'), place(2, 'wanted')],
  staged: null,
  wish: null,
  releases: null,
  rollout: null,
  managedBy: null,
  problems: [],
  created: '',
  updated: '',
}

void t.test('groups are found by their parts', (t) => {
  for (const text of ['shop', 'main.v', 'example', 'eu', ''])
    t.same(filterGroups([group], { text, state: 'Active' }), [group], text)
  t.same(filterGroups([group], { text: 'us', state: '' }), [])
  t.same(filterGroups([group], { text: '', state: 'Error' }), [])
  t.same(countPlaces(group, new Map()), { applied: 1, all: 2 })
  t.same(countPlaces(group, new Map([[1, agentStates.Down]])), { applied: 0, all: 2 })
  t.end()
})

void t.test('a group’s worst problem is shown beside its state, and affects the order', (t) => {
  const text = { message: 'No', since: '', objects: [], remedy: 'Try again' }
  const failed = { ...text, code: 'load-failed', severity: 3 } as const
  const sick = { ...text, code: 'backend-sick', severity: 2 } as const

  t.same(nameProblem([failed, sick]), {
    name: 'load failed',
    tone: 'bad',
    message: 'No. Try again',
  })
  t.equal(nameProblem([sick])?.tone, 'warn')
  t.equal(nameProblem([]), null)
  const ranks = [[failed], [sick], []].map((problems) => rankGroup({ state: 1, problems }))
  t.same(
    ranks,
    ranks.toSorted((a, b) => a - b),
  )
  t.ok(rankGroup({ state: 4, problems: [failed] }) < rankGroup({ state: 1, problems: [sick] }))
  t.end()
})

void t.test('fields without read permission are not written', (t) => {
  const fields = readGroupFields(group)

  t.same(toGroupBody(fields, { file: true, domain: true, deployment: true }), {
    name: 'shop',
    keepOnFailure: true,
    mainVCL: { id: 1, version: null },
    includes: [],
    releases: null,
    tests: [],
    requireTests: false,
    rollout: null,
    domains: [{ id: 2 }],
    deployments: [{ id: 3 }],
  })
  t.same(toGroupBody(fields, { file: false, domain: false, deployment: false }), {
    name: 'shop',
    keepOnFailure: true,
    releases: null,
    requireTests: false,
    rollout: null,
  })
  t.equal(readGroupFields(null).name, '')
  t.end()
})

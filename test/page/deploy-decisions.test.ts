/** What the page decides about a deploy without a browser: its preview, the reasons why it must fail, its result. */
import fc from 'fast-check'
import t from 'tap'
import type { HistoryEntry } from '../../src/resources/vclgroup.js'
import { findBehind } from '../../src/page/views/file/find-behind.js'
import { chooseMend } from '../../src/page/views/group/choose-mend.js'
import {
  findHindrances,
  findWaiting,
  judgeRefusal,
  summarizePlan,
  type CompileCheck,
} from '../../src/page/views/group/judge-plan.js'
import {
  judgeStage,
  listStageCaches,
  listStageTags,
  type StageCache,
} from '../../src/page/views/group/judge-stage.js'
import { compareFigures, findRecent, findWorse } from '../../src/page/views/group/measure-result.js'
import {
  countPlanned,
  groupReasons,
  planPlaces,
  type PlannedPlace,
} from '../../src/page/views/group/plan-places.js'

const agent = (id: number) => ({ id, name: `edge-${id}` })
const foreseen = { deployment: 'eu', held: true, waiting: false, reason: null }

void t.test('each cache is listed once, with its change and the reason', (t) => {
  const why = { deployment: null, chosen: false, reason: 'it does not have all tags' }
  const rows = planPlaces(
    {
      agents: [
        { ...foreseen, agent: agent(1) },
        { ...foreseen, agent: agent(2), held: false },
        { ...foreseen, agent: agent(3), deployment: null, reason: 'max shrank' },
        { ...foreseen, agent: agent(5), waiting: true, reason: 'the agent is Down' },
      ],
    },
    [1, 2, 3, 4].map((id) => ({ agent: agent(id), ...why })),
    new Set([1, 3, 5]),
  )

  t.match(rows, [
    { id: 3, change: 'removed', reason: 'max shrank' },
    { id: 5, change: 'waiting', reason: 'the agent is Down' },
    { id: 2, change: 'added', reason: 'has all tags of eu' },
    { id: 1, change: 'no change' },
    { id: 4, change: 'not placed', reason: 'it does not have all tags' },
  ])
  t.equal(countPlanned(rows, 'added', 'no change'), 2)
  const [removed] = rows
  t.match(groupReasons(removed ? [removed, removed, ...rows.slice(1)] : []), [
    { change: 'removed', count: 2 },
    { change: 'waiting', count: 1 },
    { change: 'added', count: 1 },
    { change: 'no change', count: 1 },
    { change: 'not placed', count: 1 },
  ])
  const reasons = [
    { agent: agent(1), deployment: null, chosen: true, reason: 'it keeps its place' },
  ]
  t.match(planPlaces(null, reasons, new Set([1])), [{ change: 'no change' }], 'without a preview')
  t.end()
})

const errorOf = (status: number, errorMsg = 'no') => ({
  status,
  errorMsg,
  errorKey: 'deploy',
  traceId: '',
  retryAfterSeconds: null,
})
const tests = [{ id: 9, name: 'cart.test.yaml' }]
const changes = ['added', 'no change', 'waiting', 'removed', 'not placed'] as const
const checks: fc.Arbitrary<CompileCheck> = fc.oneof(
  fc.constantFrom<CompileCheck>({ state: 'unknown' }, { state: 'checking' }),
  fc.record({
    state: fc.constant('compiles' as const),
    on: fc.nat(),
    isOnEach: fc.boolean(),
    warnings: fc.constant([]),
  }),
  fc.constantFrom(409, 422, 429, 503, 504, 0).map((status) => judgeRefusal(errorOf(status), tests)),
)
const plans = fc.record({
  group: fc.record({
    mainVCL: fc.option(fc.constant({ id: 1, name: 'main.vcl' })),
    deployments: fc.constantFrom([], [{ id: 1, name: 'eu' }]),
  }),
  shortage: fc.option(fc.constant('deployment "eu" needs 2')),
  check: checks,
  changed: fc.record({ files: fc.option(fc.nat({ max: 3 })), domains: fc.nat({ max: 3 }) }),
  places: fc
    .array(fc.constantFrom(...changes))
    .map((all) =>
      all.map((change, id) => ({ id, change, name: `edge-${id}`, deployment: null, reason: '' })),
    ),
})

void t.test('a deploy is blocked exactly if it must fail, and the reason is shown', (t) => {
  fc.assert(
    fc.property(plans, (plan) => {
      const { group, shortage, check } = plan
      const isRefused = check.state === 'fails' && [409, 422].includes(check.error.status)
      // Refused for now, and kept pending until enough caches fit.
      const isKept = check.state === 'unchecked' && check.error.status === 503
      const isShort = shortage !== null && !isKept
      const mustFail = !group.mainVCL || group.deployments.length === 0 || isShort || isRefused
      const hindrances = findHindrances(plan)
      return (
        hindrances.length > 0 === mustFail &&
        hindrances.every((text) => /^[A-Z]/.test(text)) &&
        (findWaiting(plan) !== null) === (shortage !== null && isKept)
      )
    }),
  )
  t.end()
})

void t.test('the summary of a plan counts the changes, the caches and the compilations', (t) => {
  const place = (id: number, change: PlannedPlace['change']): PlannedPlace => ({
    id,
    change,
    name: `edge-${id}`,
    deployment: 'eu',
    reason: '',
  })
  const plan = {
    group: { mainVCL: { id: 1, name: 'main.vcl' }, deployments: [{ id: 1, name: 'eu' }] },
    shortage: null,
    places: [],
  }
  const compiles = { state: 'compiles', on: 2, isOnEach: true, warnings: [] } as const
  const say = (plan: Partial<Parameters<typeof summarizePlan>[0]>) =>
    summarizePlan({
      changed: { files: 2, domains: 0 },
      check: compiles,
      places: [place(1, 'added'), place(2, 'no change')],
      ...plan,
    })

  t.equal(say({}), '2 files change, 2 caches now, compiles on 2 of 2')
  t.equal(
    say({ changed: { files: 0, domains: 1 }, places: [place(1, 'waiting'), place(2, 'removed')] }),
    'No file changes, 1 domain changes, 0 caches now, 1 when it reconnects, removed from 1, compiles on 2 of 2',
  )
  const ofRelease = { ...compiles, on: 1, isOnEach: false }
  t.match(say({ check: ofRelease }), /compiles on 1 cache, one of each release$/)
  t.match(say({ check: judgeRefusal(errorOf(422), tests) }), /does not compile$/)
  t.match(say({ check: judgeRefusal(errorOf(503), tests) }), /not checked whether it compiles$/)
  const refused = errorOf(422, 'cart.test.yaml line 7: step 3: expected status 200, got 503\n…')
  const tested = judgeRefusal(refused, tests)
  t.match(say({ check: tested }), /its tests fail$/)
  t.match(findHindrances({ ...plan, check: tested }), ['Its tests fail. Fix what is listed below.'])
  t.match(say({ changed: { files: null, domains: 0 } }), /^2 caches now/)
  fc.assert(fc.property(plans, (plan) => /^[A-Z\d]/.test(summarizePlan(plan))))
  t.end()
})

const entry = (revision: number | null, version: number, action = 'deploy'): HistoryEntry => ({
  revision,
  action,
  at: '2026-01-01T00:00:00Z',
  account: 'root',
  result: 'ok',
  mainVCL: { id: 1, name: 'main.vcl', version },
  includes: [],
  replaced: [],
  replacedBy: null,
})

void t.test('a problem of a group leads to its remedy', (t) => {
  const group = { id: 7, console: false }
  const edge = { type: 'agent', id: 3, name: 'edge-3' }

  t.equal(chooseMend(group, { code: 'load-failed', objects: [edge] }), 'rollback')
  t.same(chooseMend(group, { code: 'load-failed', objects: [] }), {
    title: 'Review deploy',
    href: '/groups/7/deploy',
  })
  t.same(chooseMend(group, { code: 'place-waiting', objects: [edge] }), {
    title: 'Open edge-3',
    href: '/caches/3',
  })
  t.equal(chooseMend(group, { code: 'no-agent-fits', objects: [] }), null)
  t.end()
})

void t.test(
  'a deploy is compared with the ten minutes before it, without the row of its time',
  (t) => {
    const rows = (...values: readonly number[]) =>
      values.map((value, at) => ({ time: 100 + 10 * at, value }))
    const series = [
      { counter: 'MAIN.cache_hit', values: rows(9, 9, 0, 5, 5) },
      { counter: 'MAIN.cache_miss', values: rows(1, 1, 0, 5, 5) },
      { counter: 'MAIN.client_req', values: rows(10, 10, 99, 10, 10) },
      { counter: 'MAIN.fetch_failed', values: rows(0, 0, 99, 1, 3) },
      { counter: 'status_2xx', values: rows(10, 10, 99, 6, 6) },
      { counter: 'status_5xx', values: rows(0, 0, 99, 2, 2) },
      { counter: 'p95', values: rows(20, 20, 999, 50, 50) },
    ]

    const compared = compareFigures(series, 115)

    t.same(compared, {
      before: { hitRatio: 0.9, requests: 10, failedFetches: 0, errors: 0, firstByte: 20 },
      after: { hitRatio: 0.5, requests: 10, failedFetches: 2, errors: 0.25, firstByte: 50 },
    })
    t.same([...findWorse(compared)], ['hitRatio', 'failedFetches', 'errors', 'firstByte'])
    const nothing = {
      hitRatio: null,
      requests: null,
      failedFetches: null,
      errors: null,
      firstByte: null,
    }
    t.same(compareFigures([], 115), { before: nothing, after: nothing })
    const swapped = { before: compared.after, after: compared.before }
    t.equal(findWorse(swapped).size, 0, 'an improvement is not worse')
    const figures = fc.record({
      hitRatio: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      requests: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
      failedFetches: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
      errors: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      firstByte: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
    })
    fc.assert(fc.property(figures, (same) => findWorse({ before: same, after: same }).size === 0))
    t.end()
  },
)

void t.test('the result of a change is shown for ten minutes', (t) => {
  const at = Date.parse('2026-01-01T00:00:00Z')
  const history = [entry(null, 3), entry(2, 2), entry(1, 1)]

  t.equal(findRecent(history, at + 599_000)?.revision, 2)
  t.equal(findRecent(history, at + 600_000), null)
  t.equal(findRecent([entry(2, 2, 'undeploy'), ...history], at), null)
  t.equal(findRecent([entry(2, 9, 'stage'), ...history], at)?.mainVCL.version, 2)
  t.equal(findRecent([], at), null)
  t.end()
})

const caches: fc.Arbitrary<readonly StageCache[]> = fc.array(
  fc.record({
    id: fc.nat(),
    name: fc.constantFrom('edge-1', 'edge-2'),
    tags: fc.uniqueArray(fc.integer({ min: 1, max: 3 })).map((ids) => new Set(ids)),
    refusal: fc.option(fc.constant('other groups are placed there')),
  }),
)
const tags = [1, 2, 3].map((id) => ({ id, name: `tag ${id}` }))
const choices = fc.subarray([1, 2, 3])

void t.test('a tag is disabled, with a note, unless some choice with it could work', (t) => {
  fc.assert(
    fc.property(caches, choices, (all, chosen) =>
      listStageTags(tags, all, chosen).every(({ id, note, disabled }) => {
        const couldWork = all.some(
          (one) => one.refusal === null && [...chosen, id].every((tag) => one.tags.has(tag)),
        )
        return note !== '' && disabled === (!couldWork && !chosen.includes(id))
      }),
    ),
  )
  t.same(
    listStageTags(tags, null, []).filter(({ disabled }) => disabled),
    [],
    'all, while the caches are unknown',
  )
  t.end()
})

void t.test('a stage goes to all running caches with its tags, or is blocked', (t) => {
  fc.assert(
    fc.property(caches, choices, (all, chosen) => {
      const having = all.filter((one) => chosen.every((tag) => one.tags.has(tag)))
      const { names, hindrance } = judgeStage(all, chosen)
      const works =
        chosen.length > 0 && having.length > 0 && having.every(({ refusal }) => refusal === null)
      return works === (hindrance === null) && (!works || names.length === having.length)
    }),
  )
  const agents = ([1, 3] as const).map((state) => ({ ...agent(state), state, tags: [] }))
  const reasons = [1, 3].map((id) => ({
    agent: agent(id),
    deployment: null,
    chosen: id === 1,
    reason: 'the agent is Down',
  }))
  t.match(listStageCaches(agents, reasons), [{ id: 1, refusal: null }], 'only running caches')
  t.end()
})

void t.test('a saved file leads to the deploys that would use it', (t) => {
  const mainVCL = { id: 1, name: 'main.vcl' }
  const pinned = {
    mainVCL: { ...mainVCL, version: 2 },
    includes: [{ ...mainVCL, id: 5, version: 1 }],
  }
  const wish = { ...pinned, domains: [], deployments: [], releases: null, pending: false }
  const group = { id: 1, name: 'shop', console: false, mainVCL, wish }
  const isBehind = (one: Partial<typeof group>, id: number, version: number) =>
    findBehind([{ ...group, ...one }], { id, version }).length === 1

  t.equal(isBehind({}, 1, 3), true)
  t.equal(isBehind({}, 1, 2), false)
  t.equal(isBehind({}, 5, 2), true, 'an include')
  t.equal(isBehind({ console: true }, 1, 3), false)
  t.equal(isBehind({ mainVCL: pinned.mainVCL }, 1, 3), false, 'the version is pinned')
  t.end()
})

/** Parameters and backend health as desired state: names, rules, and plans that converge. */
import fc from 'fast-check'
import t from 'tap'
import {
  coversVcl,
  findHealth,
  findParamProblem,
  groupOfVcl,
  parseBackendHealth,
  parseBackendSelection,
  type DesiredHealth,
  type DesiredSettings,
} from '../../src/vcl/engine-settings.js'
import {
  describeSetting,
  keyOf,
  nothingSet,
  planSettings,
  type OwnSettings,
  type SettingStep,
  type ShownSettings,
} from '../../src/vcl/settings-plan.js'

void t.test('a backend is selected by its name or with its group; patterns are refused', (t) => {
  t.same(parseBackendSelection('default'), { groupId: null, backend: 'default' })
  t.same(parseBackendSelection('12.a-b_c'), { groupId: 12, backend: 'a-b_c' })
  for (const wrong of ['', '*', '*.a', 'a*', '0.a', '01.a', 'x.a', '12.', '.a', 'a.b', 'a b', '9x'])
    t.equal(parseBackendSelection(wrong), null, wrong)
  t.equal(parseBackendSelection('9999999999999999.a'), null, 'the id is too large')
  t.same(['healthy', 'sick', 'auto', 'probe', 'Sick', ''].map(parseBackendHealth), [
    'healthy',
    'sick',
    'auto',
    'auto',
    null,
    null,
  ])
  t.end()
})

void t.test('an invalid parameter name or value is described', (t) => {
  t.equal(findParamProblem('default_ttl', '10'), null)
  t.equal(findParamProblem('default_ttl', null), null)
  t.equal(findParamProblem('default_ttl', ''), null)
  for (const name of ['', 'changed', '-j', 'Default', 'a b', 'a.b'])
    t.match(findParamProblem(name, '1'), /is not a parameter/)
  for (const value of ['a\nb', '\0', '\u2028', '\ud800'])
    t.match(findParamProblem('a', value), /control characters/)
  t.match(findParamProblem('a', 'x'.repeat(1025)), /1025 characters, at most 1024/)
  for (const value of ['x << y', '1" "2', '1\\n2', '1 && 2', '1;2', '$(x)', 'ä'])
    t.match(findParamProblem('a', value), /letters, digits, blanks/)
  for (const value of ['+http2, -trace', '64 kB', '10,100,10', '1.5', 'none', '50%'])
    t.equal(findParamProblem('a', value), null)
  t.end()
})

void t.test('a rule applies to the VCLs of its groups; the last matching rule wins', (t) => {
  t.equal(groupOfVcl('cf-12-0123abcd-3'), 12)
  for (const name of ['cf-idle', 'cf-r-0123abcd', 'cf-l-12', 'boot'])
    t.equal(groupOfVcl(name), null)
  t.ok(coversVcl(null, 'cf-idle'))
  t.notOk(coversVcl([12], 'cf-idle'), 'the idle VCL belongs to no group')
  const rules: DesiredHealth[] = [
    { backend: 'a', health: 'sick', groups: null },
    { backend: 'a', health: 'healthy', groups: [1, 2] },
    { backend: 'a', health: 'auto', groups: [2] },
  ]
  const of = (vcl: string, backend = 'a') => findHealth(rules, vcl, backend)
  t.same(
    ['cf-3-x', 'cf-1-x', 'cf-2-x', 'cf-idle'].map((vcl) => of(vcl)),
    ['sick', 'healthy', 'auto', 'sick'],
  )
  t.equal(of('cf-1-x', 'b'), undefined)
  t.end()
})

const vcls = ['cf-1-a-1', 'cf-2-b-1', 'cf-idle', 'boot']
const managed = new Set(vcls.slice(0, 3))
const backendNames = ['a', 'b']
const paramNames = ['default_ttl', 'feature', 'cc_command']

/** A cache and its agent's record; it prints values in another form than they were set in. */
interface Model {
  readonly params: Map<string, string>
  readonly health: Map<string, string>
  own: OwnSettings
}

const print = (value: string): string => `<${value}>`
const isProbed = (backend: string): boolean => backend === 'b'

function show({ params, health }: Model): ShownSettings {
  return {
    params: new Map(paramNames.map((name) => [name, params.get(name) ?? 'default'])),
    backends: vcls.flatMap((vcl) =>
      backendNames.map((backend) => ({
        vcl,
        backend,
        adminHealth: health.get(`${vcl}.${backend}`) ?? (isProbed(backend) ? 'probe' : 'healthy'),
        isProbed: isProbed(backend),
      })),
    ),
  }
}

function run(model: Model, step: SettingStep): void {
  const { params, backends } = model.own
  if (step.do === 'set-health') {
    const key = keyOf(step)
    const others = backends.filter((name) => name !== key)
    if (step.health === 'auto') model.health.delete(key)
    else model.health.set(key, step.health)
    model.own = { params, backends: step.health === 'auto' ? others : [...others, key] }
    return
  }
  const others = params.filter(({ name }) => name !== step.name)
  if (step.do === 'reset-param') {
    model.params.delete(step.name)
    model.own = { params: others, backends }
    return
  }
  const { name, value } = step
  model.params.set(name, print(value))
  model.own = { params: [...others, { name, value, shown: print(value) }], backends }
}

const plan = (model: Model, desired: DesiredSettings, skipped: ReadonlySet<string> = new Set()) =>
  planSettings({ desired, own: model.own, shown: show(model), managed, skipped })

const desiredSettings = fc.record({
  params: fc.uniqueArray(
    fc.record({ name: fc.constantFrom(...paramNames), value: fc.constantFrom('1', '2', '+x') }),
    { selector: ({ name }) => name },
  ),
  health: fc.array(
    fc.record({
      backend: fc.constantFrom(...backendNames),
      health: fc.constantFrom('healthy' as const, 'sick' as const, 'auto' as const),
      groups: fc.option(fc.uniqueArray(fc.constantFrom(1, 2))),
    }),
    { maxLength: 4 },
  ),
})

const disturbance = fc.record({
  params: fc.dictionary(fc.constantFrom(...paramNames), fc.constantFrom('by hand', '<1>')),
  health: fc.dictionary(
    fc.constantFrom(...vcls.flatMap((vcl) => backendNames.map((backend) => `${vcl}.${backend}`))),
    fc.constantFrom('healthy', 'sick'),
  ),
})

void t.test('any sequence of desired states and disturbances converges', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(desiredSettings, disturbance)), desiredSettings, (way, last) => {
      const model: Model = { params: new Map(), health: new Map(), own: nothingSet }
      for (const [desired, disturbed] of [...way, [last, { params: {}, health: {} }] as const]) {
        const steps = plan(model, desired)
        for (const step of steps) {
          t.not(keyOf(step), 'cc_command', 'it is never settable')
          if (step.do === 'set-health') t.ok(managed.has(step.vcl), 'unmanaged VCL is untouched')
          run(model, step)
        }
        t.same(plan(model, desired), [], 'a second plan is empty')
        for (const { name, value } of desired.params.filter(({ name }) => name !== 'cc_command'))
          t.equal(model.params.get(name), print(value))
        for (const { vcl, backend, adminHealth } of show(model).backends ?? []) {
          const wanted = findHealth(desired.health, vcl, backend)
          if (managed.has(vcl) && (wanted === 'sick' || wanted === 'healthy'))
            t.equal(adminHealth, wanted)
        }
        for (const [name, value] of Object.entries(disturbed.params)) model.params.set(name, value)
        for (const [key, value] of Object.entries(disturbed.health)) model.health.set(key, value)
      }
    }),
    { numRuns: 200 },
  )
  t.end()
})

void t.test('a setting no longer desired is reset, settings of others stay', (t) => {
  const model: Model = {
    params: new Map([['feature', 'by hand']]),
    health: new Map([['cf-2-b-1.b', 'sick']]),
    own: nothingSet,
  }
  const desired: DesiredSettings = {
    params: [{ name: 'default_ttl', value: '1' }],
    health: [{ backend: 'a', health: 'sick', groups: [1] }],
  }
  t.same(plan(model, desired).map(describeSetting), [
    'set default_ttl to 1',
    'set cf-1-a-1.a to sick',
  ])
  for (const step of plan(model, desired)) run(model, step)
  t.same(plan(model, {}).map(describeSetting), ['reset default_ttl', 'set cf-1-a-1.a to auto'])
  t.same(plan(model, desired), [])
  t.same(plan(model, {}, new Set(['default_ttl', 'cf-1-a-1.a'])), [], 'skipped settings stay')
  for (const step of plan(model, {})) run(model, step)
  t.same([...model.params], [['feature', 'by hand']])
  t.same([...model.health], [['cf-2-b-1.b', 'sick']])
  t.end()
})

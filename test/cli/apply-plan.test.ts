/** The plans of `apply`: run against objects that follow the API's rules, from any starting point. */
import fc from 'fast-check'
import t from 'tap'
import { keyOf, type PresentObject, type WantedObject } from '../../src/cli/apply/apply-objects.js'
import { planApply, type ApplyInput, type ApplyPlan } from '../../src/cli/apply/apply-plan.js'
import { applyStep, folders, type World } from '../support/apply-world.js'

const runs = { numRuns: 1000 }
const set = 'ours'

function plan(
  world: World,
  wanted: readonly WantedObject[],
  how: Partial<ApplyInput> = {},
): ApplyPlan {
  const present = [...world.values()]
  return planApply({
    set,
    wanted,
    present,
    sharedTags: new Set(),
    prune: false,
    adopt: false,
    ...how,
  })
}

function run(world: World, { steps }: Pick<ApplyPlan, 'steps'>, owner = set): World {
  return steps.reduce((now, step) => applyStep(now, step, owner), world)
}

/** Two sets and objects made by hand, applied one after the other. */
const worlds: fc.Arbitrary<World> = fc
  .tuple(folders, folders, fc.array(fc.nat({ max: 12 }), { maxLength: 4 }))
  .map(([ours, theirs, byHand]) => {
    const first = run(new Map(), plan(new Map(), ours))
    const both = run(first, plan(first, theirs, { set: 'theirs', adopt: true }), 'theirs')
    const objects = [...both.values()].map((object, index) =>
      byHand.includes(index) ? { ...object, managedBy: null } : object,
    )
    return new Map(objects.map((object) => [keyOf(object), object]))
  })

const situations = fc.record({
  world: worlds,
  wanted: folders,
  prune: fc.boolean(),
  adopt: fc.boolean(),
})

void t.test('a plan that is not refused converges, and a second one is empty', (t) => {
  let ran = 0
  const property = fc.property(situations, ({ world, wanted, prune, adopt }) => {
    const planned = plan(world, wanted, { prune, adopt })
    if (planned.refusals.length > 0) return
    ran++
    const after = run(world, planned)
    for (const object of wanted) requireAsWanted(after.get(keyOf(object)), object)
    const again = plan(after, wanted, { prune, adopt })
    if (again.steps.length + again.refusals.length > 0) throw new Error(JSON.stringify(again))
  })
  fc.assert(property, runs)
  t.ok(ran > runs.numRuns / 4, 'enough plans were not refused')
  t.end()
})

void t.test('the next run continues after an interrupted one', (t) => {
  const property = fc.property(situations, fc.nat(), ({ world, wanted, prune, adopt }, at) => {
    const planned = plan(world, wanted, { prune, adopt })
    if (planned.refusals.length > 0) return
    const steps = planned.steps.slice(0, at % (planned.steps.length + 1))
    const broken = run(world, { steps })
    const next = plan(broken, wanted, { prune, adopt })
    if (next.refusals.length > 0) throw new Error(JSON.stringify(next.refusals))
    const after = run(broken, next)
    for (const object of wanted) requireAsWanted(after.get(keyOf(object)), object)
  })
  fc.assert(property, runs)
  t.end()
})

void t.test(
  'only objects of the set without a document are deleted, and only with --prune',
  (t) => {
    const property = fc.property(situations, ({ world, wanted, prune, adopt }) => {
      const named = new Set(wanted.map(keyOf))
      for (const step of plan(world, wanted, { prune, adopt }).steps) {
        if (step.action !== 'delete') continue
        const gone = world.get(keyOf(step))
        if (!prune || gone?.managedBy !== set || named.has(keyOf(step)))
          throw new Error(JSON.stringify(step))
      }
    })
    fc.assert(property, runs)
    t.end()
  },
)

void t.test('objects of another set are refused and stay unchanged, unless adopted', (t) => {
  const property = fc.property(situations, ({ world, wanted, prune }) => {
    const { steps, refusals } = plan(world, wanted, { prune })
    const theirs = wanted.filter((object) => world.get(keyOf(object))?.managedBy === 'theirs')
    for (const object of theirs)
      if (!refusals.some((refusal) => keyOf(refusal) === keyOf(object)))
        throw new Error(`${object.name} is not refused`)
    if (refusals.length > 0) return
    for (const step of steps)
      if (world.get(keyOf(step))?.managedBy === 'theirs') throw new Error(JSON.stringify(step))
  })
  fc.assert(property, runs)
  t.end()
})

const file = (name: string, sha: string): WantedObject => ({ kind: 'file', name, fields: { sha } })
const site = (parts: Partial<Record<string, string[]>> = {}): WantedObject => ({
  kind: 'vclgroup',
  name: 'site',
  deployed: true,
  fields: {
    mainVCL: 'main',
    mainVersion: null,
    includes: [],
    domains: [],
    deployments: [],
    ...parts,
  },
})

void t.test('a group is deployed with a reason when its program would change', (t) => {
  const world = run(new Map(), plan(new Map(), [file('main', 'a'), site()]))
  const reasons = (wanted: readonly WantedObject[], from: World = world): readonly unknown[] =>
    plan(from, wanted).steps.flatMap((step) => (step.action === 'deploy' ? [step.reason] : []))
  t.same(reasons([file('main', 'a'), site()]), [])
  t.same(reasons([file('main', 'b'), site()]), ['its sources changed'])
  const domain = { kind: 'domain', name: 'd', fields: {} } as const
  t.same(reasons([file('main', 'a'), domain, site({ domains: ['d'] })]), ['its domains changed'])
  t.same(reasons([file('main', 'b'), { ...site(), deployed: false }]), [], 'undeployed instead')
  t.same(reasons([file('main', 'b'), { ...site(), deployed: undefined }]), ['its sources changed'])
  const waiting = new Map(world)
  const group = world.get('vclgroup site')
  if (group?.pins)
    waiting.set('vclgroup site', { ...group, pins: { ...group.pins, pending: true } })
  t.same(reasons([file('main', 'a'), site()], waiting), ['it waits for agents'])
  const failing = new Map(world)
  if (group) failing.set('vclgroup site', { ...group, hasFailed: true })
  t.same(reasons([file('main', 'a'), site()], failing), ['a cache failed to load it'])
  t.end()
})

void t.test('a group that gives up a domain is deployed before the one that receives it', (t) => {
  const domain = { kind: 'domain', name: 'd', fields: {} } as const
  const named = (name: string, domains: string[]): WantedObject => ({ ...site({ domains }), name })
  const before = [file('main', 'a'), domain, named('old', ['d']), named('new', [])]
  const world = run(new Map(), plan(new Map(), before))
  const { steps } = plan(world, [file('main', 'a'), domain, named('new', ['d']), named('old', [])])
  const deploys = steps.filter(({ action }) => action === 'deploy')
  t.same(
    deploys.map(({ name }) => name),
    ['old', 'new'],
  )
  t.end()
})

void t.test(
  'references to missing objects, and to ones to be pruned, are refused with both names',
  (t) => {
    const world = run(new Map(), plan(new Map(), [file('main', 'a')]))
    const problemsOf = (planned: ApplyPlan): readonly string[] =>
      planned.refusals.map(({ name, problem }) => `${name}: ${problem}`)
    t.match(problemsOf(plan(new Map(), [site()])), [/^site: mainVCL: there is no file "main"/])
    t.same(problemsOf(plan(world, [site()])), [], 'existing objects may be referenced')
    t.match(problemsOf(plan(world, [site()], { prune: true })), [/^site: .*"main" would be pruned/])
    const unread = new Map([...run(world, plan(world, [site()]))].slice(1))
    t.same(problemsOf(plan(unread, [])), [], 'objects not read are not checked')
    const byHand = run(world, plan(world, [site()]))
    const made = byHand.get('vclgroup site')
    const users = new Map(byHand)
    if (made) users.set('vclgroup site', { ...made, managedBy: null })
    t.match(problemsOf(plan(users, [], { prune: true })), [
      /^site: mainVCL: file "main" would be pruned/,
    ])
    t.end()
  },
)

void t.test(
  'a tag sent by an agent is not pruned; a tag of a shared agent may be referenced',
  (t) => {
    const sent: PresentObject = {
      kind: 'tag',
      name: 'web',
      fields: {},
      id: 1,
      managedBy: set,
      isSent: true,
    }
    t.same(plan(new Map([['tag web', sent]]), [], { prune: true }).steps, [])
    const deployment: WantedObject = { kind: 'deployment', name: 'd', fields: { tags: ['eu'] } }
    t.same(plan(new Map(), [deployment], { sharedTags: new Set(['eu']) }).refusals, [])
    t.equal(plan(new Map(), [deployment]).refusals.length, 1)
    t.end()
  },
)

function requireAsWanted(object: PresentObject | undefined, wanted: WantedObject): void {
  if (JSON.stringify(object?.fields) !== JSON.stringify(wanted.fields))
    throw new Error(`${wanted.name} is not as wanted`)
  if (wanted.deployed !== undefined && object?.deployed !== wanted.deployed)
    throw new Error(`${wanted.name} is not deployed as wanted`)
}

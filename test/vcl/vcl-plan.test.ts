/** Plans, executed on a small model of the engine's rules (management protocol: vcl.* commands and labels). */
import fc from 'fast-check'
import t from 'tap'
import { idleVclName, type DesiredEngine } from '../../src/vcl/desired-engine.js'
import type { EngineInventory } from '../../src/vcl/engine-inventory.js'
import { idleVclSha, planVcl, type VclStep } from '../../src/vcl/plan.js'
import { desiredEngines, engineWorlds, type EngineWorld } from '../support/arbitraries.js'

interface ModelVcl {
  readonly labelOf: string | null
  readonly returns: readonly string[]
}

/** Throws where the engine would refuse, and where the source of a foreign VCL would be lost. */
class ModelEngine {
  readonly vcls = new Map<string, ModelVcl>()
  /** Labels returned by VCLs that are not loaded yet. */
  readonly sources = new Map<string, readonly string[]>()
  readonly ours: Set<string>
  readonly saved = new Set<string>()
  active: string | null
  running: boolean
  startUnfinished = false

  constructor(world: EngineWorld) {
    for (const { name, labelOf, returns } of world.vcls) this.vcls.set(name, { labelOf, returns })
    this.active = world.active
    this.running = world.childRunning
    this.ours = new Set(world.ours)
  }

  inventory(): EngineInventory {
    const vcls = [...this.vcls].map(([name, { labelOf }]) => ({
      name,
      active: name === this.active,
      labelOf,
    }))
    return { childRunning: this.running, vcls }
  }

  plan(desired: DesiredEngine): VclStep[] {
    const { ours, startUnfinished } = this
    return planVcl({ desired, inventory: this.inventory(), managed: ours, startUnfinished })
  }

  /** The agent's record before it begins. */
  begin(steps: readonly VclStep[]): void {
    if (steps.some((step) => step.do === 'start')) this.startUnfinished = true
  }

  run(step: VclStep): void {
    switch (step.do) {
      case 'load':
        this.load(step.name)
        break
      case 'label':
        this.label(step.label, step.program)
        break
      case 'use':
        if (!this.vcls.has(step.name)) throw new Error(`No VCL named ${step.name} known`)
        this.active = step.name
        break
      case 'start':
        this.start()
        break
      case 'save':
        this.save(step.name)
        break
      case 'discard':
        this.discard(step.names)
        break
      case 'ban':
        break // objects are not part of this model
    }
  }

  load(name: string): void {
    if (this.vcls.has(name)) throw new Error(`Already a VCL named ${name}`)
    const returns = this.sources.get(name) ?? []
    const unknown = returns.find((label) => (this.vcls.get(label)?.labelOf ?? null) === null)
    if (unknown !== undefined) throw new Error(`Symbol not found: '${unknown}'`)
    this.vcls.set(name, { labelOf: null, returns })
    this.ours.add(name)
  }

  start(): void {
    if (this.running || this.active === null) throw new Error('cannot start')
    this.running = true
    this.startUnfinished = false
  }

  save(name: string): void {
    if (!this.running) throw new Error('Unknown request in manager process')
    if (this.vcls.get(name)?.labelOf !== null) throw new Error('6.0 dies of it')
    this.saved.add(name)
  }

  label(label: string, program: string): void {
    const target = this.vcls.get(program)
    if (target?.labelOf !== null) throw new Error(`${program} cannot be labelled`)
    if (this.vcls.has(label) && this.vcls.get(label)?.labelOf === null)
      throw new Error(`${label} is not a label`)
    if (target.returns.includes(label)) throw new Error('would create a loop')
    this.vcls.set(label, { labelOf: program, returns: [] })
    this.ours.add(label)
  }

  discard(names: readonly string[]): void {
    const going = new Set(names)
    for (const name of names) {
      const vcl = this.vcls.get(name)
      if (!vcl) throw new Error(`No VCL name matches ${name}`)
      if (name === this.active) throw new Error(`Cannot discard active VCL program ${name}`)
      if (vcl.labelOf === null && !this.ours.has(name) && !this.saved.has(name))
        throw new Error(`the source of ${name} is lost`)
    }
    for (const [name, { labelOf, returns }] of this.vcls) {
      const needed = [labelOf, ...returns].find((other) => other !== null && going.has(other))
      if (needed !== undefined && !going.has(name)) throw new Error(`${name} needs ${needed}`)
    }
    for (const name of names) {
      this.vcls.delete(name)
      this.ours.delete(name)
    }
  }
}

/** VCLs that stay return only labels that stay; otherwise no order of commands could reach the desired state. */
function engineOf(world: EngineWorld, desired: DesiredEngine): ModelEngine {
  const staying = new Set(desired.load.map(({ name }) => name))
  const labels = new Set(desired.labels.map(({ label }) => label))
  const labelled = new Set(desired.labels.map(({ program }) => program))
  const vcls = world.vcls.map((vcl) => {
    // Our own idle VCL returns nothing.
    if (vcl.name.startsWith(idleVclName)) return { ...vcl, returns: [] }
    return staying.has(vcl.name)
      ? { ...vcl, returns: vcl.returns.filter((l) => labels.has(l) && !labelled.has(vcl.name)) }
      : vcl
  })
  const engine = new ModelEngine({ ...world, vcls })
  for (const name of staying) if (!labelled.has(name)) engine.sources.set(name, [...labels])
  return engine
}

/** Whether the child will run, so that unmanaged VCLs can be saved. */
function canRun(engine: ModelEngine): boolean {
  return engine.running || engine.active === null
}

function checkSatisfied(engine: ModelEngine, desired: DesiredEngine): void {
  const { vcls, ours } = engine
  const wanted = new Set(desired.load.map(({ name }) => name))
  for (const name of wanted) if (!ours.has(name)) throw new Error(`${name} is not ours`)
  for (const { label, program } of desired.labels) {
    if (vcls.get(label)?.labelOf !== program) throw new Error(`${label} is not ${program}`)
    wanted.add(label)
  }
  if (engine.active !== desired.active) throw new Error(`${String(engine.active)} is active`)
  if (!engine.running) throw new Error('the child does not run')
  const extra = [...vcls.keys()].filter((name) => !wanted.has(name) && name !== idleVclName)
  if (extra.length > 0) throw new Error(`left over: ${extra.join()}`)
  if (vcls.has(idleVclName) && !ours.has(idleVclName)) throw new Error('a foreign idle VCL')
}

const runs = { numRuns: 3000 }

void t.test('executing a plan reaches the desired state', (t) => {
  const property = fc.property(engineWorlds, desiredEngines, (world, desired) => {
    const engine = engineOf(world, desired)
    fc.pre(canRun(engine))

    const steps = engine.plan(desired)
    engine.begin(steps)
    for (const step of steps) engine.run(step)

    checkSatisfied(engine, desired)
    if (engine.plan(desired).length > 0) throw new Error('a satisfied engine is changed')
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('stopping after any step and planning again reaches it as well', (t) => {
  const stops = fc.array(fc.nat({ max: 6 }), { maxLength: 4 })
  const property = fc.property(engineWorlds, desiredEngines, stops, (world, desired, cuts) => {
    const engine = engineOf(world, desired)
    fc.pre(canRun(engine))

    for (const cut of [...cuts, Infinity]) {
      const steps = engine.plan(desired)
      engine.begin(steps)
      for (const step of steps.slice(0, cut)) engine.run(step)
    }

    checkSatisfied(engine, desired)
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('a serving VCL is only ever replaced by another loaded one', (t) => {
  const property = fc.property(engineWorlds, desiredEngines, (world, desired) => {
    const engine = engineOf(world, desired)

    const steps = engine.plan(desired)
    const wasActive = engine.active !== null
    for (const step of steps) {
      engine.run(step)
      if (wasActive && (engine.active === null || !engine.vcls.has(engine.active)))
        throw new Error('nothing is active')
    }
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('without name conflicts the order is load, label, use, start, save, discard', (t) => {
  const order = ['load', 'label', 'use', 'start', 'save', 'discard']
  const property = fc.property(engineWorlds, desiredEngines, (world, desired) => {
    const free = { ...world, ours: [...world.ours, ...desired.load.map(({ name }) => name)] }
    fc.pre(free.vcls.every(({ labelOf }) => labelOf === null) && desired.labels.length === 0)
    const engine = engineOf({ ...free, ours: [...free.ours, idleVclName] }, desired)

    const ranks = engine.plan(desired).map((step) => order.indexOf(step.do))

    if (ranks.some((rank, at) => rank < (ranks[at - 1] ?? 0))) throw new Error(ranks.join())
    if (ranks.filter((rank) => rank === 5).length > 1) throw new Error('discards twice')
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('a child stopped by somebody stays stopped, and no foreign VCL is saved', (t) => {
  const property = fc.property(engineWorlds, desiredEngines, (world, desired) => {
    const engine = engineOf({ ...world, childRunning: false }, desired)
    fc.pre(engine.active !== null)

    const steps = engine.plan(desired)
    for (const step of steps) engine.run(step)

    if (engine.running) throw new Error('started')
    if (engine.saved.size > 0) throw new Error('saved')
  })

  fc.assert(property, runs)
  t.end()
})

const program = (name: string) => ({ name, sha: `sha of ${name}` })
const row = (name: string, labelOf: string | null = null) => ({ name, active: false, labelOf })

void t.test('on an empty cache with a stopped child the VCL is loaded, used and started', (t) => {
  const desired = { load: [program('cf-1-a-1')], labels: [], active: 'cf-1-a-1' }

  const steps = planVcl({
    desired,
    inventory: { childRunning: false, vcls: [] },
    managed: new Set<string>(),
  })

  t.same(steps, [
    { do: 'load', name: 'cf-1-a-1', sha: 'sha of cf-1-a-1' },
    { do: 'use', name: 'cf-1-a-1' },
    { do: 'start' },
  ])
  t.end()
})

void t.test('takeover saves unmanaged VCLs and discards them with one command', (t) => {
  const steps = planVcl({
    desired: { load: [], labels: [], active: idleVclName },
    inventory: {
      childRunning: true,
      vcls: [row('handlabel', 'handmade'), { ...row('boot'), active: true }, row('handmade')],
    },
    managed: new Set<string>(),
  })

  t.same(steps, [
    { do: 'load', name: idleVclName, sha: idleVclSha },
    { do: 'use', name: idleVclName },
    { do: 'save', name: 'boot' },
    { do: 'save', name: 'handmade' },
    { do: 'discard', names: ['boot', 'handlabel', 'handmade'] },
  ])
  t.end()
})

void t.test('a foreign VCL with the desired name is replaced by means of a stand-in', (t) => {
  const steps = planVcl({
    desired: { load: [program('cf-1-a-1')], labels: [], active: 'cf-1-a-1' },
    inventory: { childRunning: true, vcls: [{ ...row('cf-1-a-1'), active: true }] },
    managed: new Set<string>(),
  })

  const { name, sha } = program('cf-1-a-1')
  const standIn = `cf-standin-${sha.slice(0, 8)}`
  t.same(steps, [
    { do: 'load', name: standIn, sha },
    { do: 'use', name: standIn },
    { do: 'save', name },
    { do: 'discard', names: [name] },
    { do: 'load', name, sha },
    { do: 'use', name },
    { do: 'discard', names: [standIn] },
  ])
  t.end()
})

void t.test('the managed idle VCL stays loaded without any step', (t) => {
  const inventory = {
    childRunning: true,
    vcls: [row(idleVclName), { ...row('cf-1-a-1'), active: true }],
  }
  const desired = { load: [program('cf-1-a-1')], labels: [], active: 'cf-1-a-1' }

  const steps = planVcl({ desired, inventory, managed: new Set([idleVclName, 'cf-1-a-1']) })

  t.same(steps, [])
  t.end()
})

void t.test('a desired state that uses an unloaded VCL throws', (t) => {
  const inventory = { childRunning: true, vcls: [] }
  const desired = { load: [], labels: [], active: 'cf-9-a-1' }

  t.throws(() => planVcl({ desired, inventory, managed: new Set<string>() }), /needs cf-9-a-1/)
  t.end()
})

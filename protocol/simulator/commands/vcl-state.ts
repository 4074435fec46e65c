/** vcl.use, vcl.state, vcl.label, vcl.discard: what is active, warm, labelled, gone (mgt_vcl.c). */
import { cliStatus } from '../../status.js'
import {
  addUse,
  dropUses,
  findProgram,
  setIdleClock,
  setWarm,
  type EngineState,
  type VclProgram,
} from '../engine-state.js'
import { matchesGlob } from '../glob.js'
import type { Call } from './call.js'
import { parseState } from './vcl-load.js'
import { findNamed, mayBeName } from './vcl-names.js'

export function useVcl(call: Call): void {
  const { engine, reply, nowMs } = call
  const [name = ''] = call.args
  const program = findNamed(call, name)
  if (program === undefined || program === engine.active) return
  if (!requireWarm(call, program)) return
  const previous = engine.active
  engine.active = program
  markServed(program)
  setIdleClock(engine, program, nowMs)
  if (previous !== undefined) setIdleClock(engine, previous, nowMs)
  reply.out(`VCL '${name}' now active`)
}

function markServed(program: VclProgram): void {
  program.hasServed = true
  if (program.state === 'label') for (const target of program.uses) target.hasServed = true
}

function requireWarm({ engine, reply, nowMs }: Call, program: VclProgram): boolean {
  if (program.state === 'cold') {
    reply.refuse(cliStatus.cannot, `VCL '${program.name}' is cold - set to auto or warm first`)
    return false
  }
  if (!program.warm) setWarm(engine, program, { warm: true, nowMs })
  return true
}

export function setVclState(call: Call): void {
  const { engine, reply, nowMs } = call
  const [name = '', word = ''] = call.args
  const program = findNamed(call, name)
  if (program === undefined) return
  if (program.state === 'label') {
    reply.refuse(cliStatus.parameter, 'Labels are always warm')
    return
  }
  const state = parseState(call, word)
  if (state === undefined || (state === 'cold' && !mayBeCold(call, program))) return
  if (program.state === state) return
  program.state = state
  const warm = state === 'auto' || program === engine.active ? program.warm : state === 'warm'
  if (warm === program.warm) setIdleClock(engine, program, nowMs)
  else setWarm(engine, program, { warm, nowMs })
}

function mayBeCold({ engine, reply }: Call, program: VclProgram): boolean {
  if (program.usedBy.length > 0) reply.refuse(cliStatus.cannot, 'A labeled VCL cannot be set cold')
  else if (program === engine.active)
    reply.refuse(cliStatus.cannot, 'Cannot set the active VCL cold.')
  else return true
  return false
}

export function labelVcl(call: Call): void {
  const { engine, nowMs } = call
  const [name = ''] = call.args
  const target = findTarget(call)
  if (target === undefined || !requireWarm(call, target)) return
  const existing = findProgram(engine, name)
  if (existing !== undefined) dropUses(engine, existing, nowMs)
  addUse(engine, existing ?? addLabel(engine, name), target)
}

/** The program a label may point at, checked in the engine's order. */
function findTarget(call: Call): VclProgram | undefined {
  const { engine, reply } = call
  const [name = '', targetName = ''] = call.args
  if (!mayBeName(call, name)) return undefined
  const existing = findProgram(engine, name)
  if (existing !== undefined && existing.state !== 'label') {
    reply.refuse(cliStatus.parameter, `${name} is not a label`)
    return undefined
  }
  const target = findNamed(call, targetName)
  if (target?.state === 'label') {
    reply.refuse(cliStatus.cannot, 'VCL labels cannot point to labels')
    return undefined
  }
  if (target === undefined || existing === undefined || existing.uses[0] === target) return target
  if (!reaches(call, target, existing)) return target
  const loop = `Pointing label ${name} at ${targetName} would create a loop`
  reply.refuse(cliStatus.parameter, loop)
  return undefined
}

/** Tells, from the end, the way by which `from` leads to `wanted` (mcf_vcl_check_dag). */
function reaches(call: Call, from: VclProgram, wanted: VclProgram): boolean {
  if (from === wanted) return true
  const next = from.uses.find((used) => reaches(call, used, wanted))
  if (next === undefined) return false
  call.reply.out(
    from.state === 'label'
      ? `Label ${from.name} points to vcl ${next.name}\n`
      : `Vcl ${from.name} uses Label ${next.name}\n`,
  )
  return true
}

function addLabel(engine: EngineState, name: string): VclProgram {
  const label: VclProgram = {
    name,
    state: 'label',
    warm: true,
    idleSinceMs: undefined,
    uses: [],
    usedBy: [],
    sources: [],
    backends: [],
    initFailure: undefined,
    isDiscarded: false,
    hasServed: false,
  }
  engine.programs.push(label)
  engine.child?.programs.push(label)
  return label
}

/** All or nothing; what depends on what is sorted out among the named (mgt_vcl_discard_mark, _depcheck). */
export function discardVcl(call: Call): void {
  const { engine } = call
  const patterns = engine.release.number < 606 ? call.args.slice(0, 1) : call.args
  const marked = new Set<VclProgram>()
  for (const pattern of patterns) {
    if (!markMatching(call, pattern, marked)) return
  }
  for (const program of marked) {
    if (program.usedBy.some((user) => !marked.has(user))) {
      refuseDependents(call, program)
      return
    }
  }
  for (const program of marked) discardProgram(call, program)
}

function markMatching(call: Call, pattern: string, marked: Set<VclProgram>): boolean {
  const { engine, reply } = call
  const hasGlobs = engine.release.number >= 606
  const matching = engine.programs.filter((program) =>
    hasGlobs ? matchesGlob(pattern, program.name) : program.name === pattern,
  )
  if (engine.active !== undefined && matching.includes(engine.active)) {
    reply.refuse(cliStatus.cannot, `Cannot discard active VCL program ${engine.active.name}\n`)
    return false
  }
  if (matching.length === 0) {
    const text = hasGlobs ? `No VCL name matches ${pattern}\n` : `No VCL named ${pattern} known\n`
    reply.refuse(cliStatus.parameter, text)
    return false
  }
  for (const program of matching) marked.add(program)
  return true
}

const listedDependents = 5

function refuseDependents({ reply }: Call, program: VclProgram): void {
  reply.refuse(
    cliStatus.cannot,
    program.state === 'label'
      ? `Cannot discard VCL label ${program.name}, other VCLs depend on it:\n`
      : `Cannot discard labeled VCL program ${program.name}:\n`,
  )
  for (const user of program.usedBy.slice(0, listedDependents)) reply.out(`\t${user.name}\n`)
  if (program.usedBy.length > listedDependents) reply.out('\t[...]')
}

function discardProgram({ engine, nowMs }: Call, program: VclProgram): void {
  dropUses(engine, program, nowMs)
  engine.programs = engine.programs.filter((other) => other !== program)
  const lingers = engine.setup.keepsDiscarded && program.hasServed && program.state !== 'label'
  program.isDiscarded = true
  if (program.state !== 'label') program.state = 'cold'
  program.warm = false
  if (engine.child !== undefined && !lingers)
    engine.child.programs = engine.child.programs.filter((other) => other !== program)
}

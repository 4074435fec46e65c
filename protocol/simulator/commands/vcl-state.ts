/** vcl.use, vcl.state, vcl.label, vcl.discard: change the active VCL, temperatures and labels, and unload VCL (mgt_vcl.c). */
import { hasQuirk } from '../../quirks.js'
import { cliStatus } from '../../status.js'
import {
  addUse,
  createProgram,
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

/** The program to which a label may point, checked in the engine's order. */
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
  return mayMove(call, existing, target) ? target : undefined
}

function mayMove(call: Call, label: VclProgram, target: VclProgram): boolean {
  if (mustBeActive(call, label, target)) return false
  if (!reaches(call, target, label)) return true
  const loop = `Pointing label ${label.name} at ${target.name} would create a loop`
  call.reply.refuse(cliStatus.parameter, loop)
  return false
}

/** Up to 6.2 (mgt_vcl.c mcf_vcl_label). */
function mustBeActive({ engine, reply }: Call, label: VclProgram, target: VclProgram): boolean {
  const [user] = label.usedBy
  if (engine.release.has([null, '6.3']) || user === undefined || target.uses.length === 0)
    return false
  reply
    .refuse(cliStatus.parameter, 'return(vcl) can only be used from the active VCL.\n\n')
    .out(`Label ${label.name} is used in return(vcl) from VCL ${user.name}\n`)
    .out(`and VCL ${target.name} also has return(vcl)`)
  return true
}

/** Checks for a path from `from` to `wanted` and prints it in reverse (mcf_vcl_check_dag). */
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
  const label = createProgram(name, 'label')
  engine.programs.push(label)
  engine.child?.programs.push(label)
  return label
}

/** All or nothing; the order of dependencies among the named programs does not matter (mgt_vcl_discard_mark, _depcheck). */
export function discardVcl(call: Call): void {
  const marked = new Set<VclProgram>()
  const mark = takesSeveral(call) ? markMatching : markNamed
  for (const pattern of call.args) if (!mark(call, pattern, marked)) return
  for (const program of marked) {
    if (program.usedBy.some((user) => !marked.has(user))) {
      refuseDependents(call, program)
      return
    }
  }
  for (const program of marked) discardProgram(call, program)
}

const takesSeveral = ({ engine }: Call) => !hasQuirk(engine.release.version, 'discardsOneName')

function markMatching(call: Call, pattern: string, marked: Set<VclProgram>): boolean {
  const { engine, reply } = call
  const matching = engine.programs.filter((program) => matchesGlob(pattern, program.name))
  if (engine.active !== undefined && matching.includes(engine.active)) {
    reply.refuse(cliStatus.cannot, `Cannot discard active VCL program ${engine.active.name}\n`)
    return false
  }
  if (matching.length === 0) reply.refuse(cliStatus.parameter, `No VCL name matches ${pattern}\n`)
  for (const program of matching) marked.add(program)
  return matching.length > 0
}

/** Before 6.6 (mgt_vcl.c mcf_vcl_discard). */
function markNamed(call: Call, name: string, marked: Set<VclProgram>): boolean {
  const program = findNamed(call, name)
  if (program === undefined) return false
  if (program === call.engine.active) {
    call.reply.refuse(cliStatus.cannot, 'Cannot discard active VCL program\n')
    return false
  }
  marked.add(program)
  return true
}

const listedDependents = 5

function refuseDependents(call: Call, program: VclProgram): void {
  const { reply } = call
  reply.refuse(cliStatus.cannot, `${describeUse(program, takesSeveral(call))}\n`)
  for (const user of program.usedBy.slice(0, listedDependents)) reply.out(`\t${user.name}\n`)
  if (program.usedBy.length > listedDependents) reply.out('\t[...]')
}

function describeUse({ name, state }: VclProgram, isNamed: boolean): string {
  if (state !== 'label') return `Cannot discard labeled VCL program${isNamed ? ` ${name}:` : '.'}`
  return isNamed
    ? `Cannot discard VCL label ${name}, other VCLs depend on it:`
    : 'Cannot discard this VCL label, other VCLs depend on it.'
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

/** vcl.inline and vcl.load: the manager compiles, the child loads (mgt_vcl.c mgt_new_vcl). */
import { cliStatus } from '../../status.js'
import {
  addUse,
  createProgram,
  findProgram,
  setIdleClock,
  type CompiledVcl,
  type EngineState,
  type VclProgram,
} from '../engine-state.js'
import { isOn, readNumber } from '../param-table.js'
import { noneBackend } from '../release.js'
import { fromBytes, toBytes, type ReplyText } from '../reply-text.js'
import type { Call } from './call.js'
import { mayBeName } from './vcl-names.js'

/** `vcl_<name>.<time>` must fit into a file name of 255 bytes. */
const nameLimitBytes = 233

export function inlineVcl(call: Call): void {
  const [name = '', source = '', state] = call.args
  loadVcl(call, { name, state }, { source })
}

export function loadVclFile(call: Call): void {
  const [name = '', missingPath = '', state] = call.args
  loadVcl(call, { name, state }, { missingPath })
}

interface NewProgram {
  readonly name: string
  readonly state: string | undefined
}

/** A simulated engine has no files, so every path is missing. */
type Origin = { readonly source: string } | { readonly missingPath: string }

function loadVcl(call: Call, { name, state: word = 'auto' }: NewProgram, origin: Origin): void {
  const { engine, reply } = call
  if (!mayBeName(call, name)) return
  if (findProgram(engine, name) !== undefined) {
    reply.refuse(cliStatus.parameter, `Already a VCL named ${name}`)
    return
  }
  if (isFull(call)) return
  const state = parseState(call, word)
  if (state === undefined) return
  const compiled = compile(call, name, origin)
  if (compiled === undefined) return
  const program = addProgram(engine, { name, state, ...compiled })
  noteCount(call)
  loadInChild(call, program)
}

function countPrograms(engine: EngineState): number {
  return engine.programs.filter((program) => program.state !== 'label').length
}

/** Labels are not counted (management-protocol: 6). */
function isFull({ engine, reply }: Call): boolean {
  const count = countPrograms(engine)
  if (count < readNumber(engine, 'max_vcl') || readNumber(engine, 'max_vcl_handling') !== 2)
    return false
  reply
    .refuse(cliStatus.cannot, `Too many (${count}) VCLs already loaded\n`)
    .out('(See max_vcl and max_vcl_handling parameters)')
  return true
}

function noteCount({ engine, reply }: Call): void {
  const count = countPrograms(engine)
  if (count <= readNumber(engine, 'max_vcl') || readNumber(engine, 'max_vcl_handling') !== 1) return
  reply
    .out(`${count} VCLs loaded\nRemember to vcl.discard the old/unused VCLs.\n`)
    .out('(See max_vcl and max_vcl_handling parameters)')
}

export function parseState({ reply }: Call, word: string): 'auto' | 'cold' | 'warm' | undefined {
  if (word === 'auto' || word === 'cold' || word === 'warm') return word
  reply.refuse(cliStatus.parameter, 'State must be one of auto, cold or warm.')
  return undefined
}

type Compiled = CompiledVcl & { readonly source: string }

function compile(call: Call, name: string, origin: Origin): Compiled | undefined {
  const { engine, reply } = call
  if (name.length > nameLimitBytes) {
    const folder = `vcl_${name}.${(call.nowMs / 1000).toFixed(6)}`
    reply
      .refuse(cliStatus.parameter, `Cannot create VCL directory '${folder}': File name too long\n`)
      .out('VCL compilation failed')
    return undefined
  }
  if ('missingPath' in origin) {
    refuseCompilation(
      reply,
      `Cannot read file '${origin.missingPath}' (No such file or directory)\n`,
    )
    return undefined
  }
  const { source } = origin
  const labels = engine.programs.filter(({ state }) => state === 'label')
  const compiled = engine.setup.compileVcl(fromBytes(source), {
    labels: new Set(labels.map((label) => label.name)),
    refusesUnused: isOn(engine, 'vcc_err_unref'),
    hasNoneBackend: engine.release.has(noneBackend),
  })
  if ('refusal' in compiled) {
    refuseCompilation(reply, toBytes(compiled.refusal))
    return undefined
  }
  // Only accepted programs reach the slow C compiler.
  reply.delayMs = engine.setup.compileMs
  if (compiled.warnings !== '')
    reply.out(`Message from VCC-compiler:\n${toBytes(compiled.warnings)}`)
  return { ...compiled, source }
}

export function refuseCompilation(reply: ReplyText, message: string): void {
  reply
    .refuse(cliStatus.parameter, `Message from VCC-compiler:\n${message}`)
    .out('Running VCC-compiler failed, exited with 2\nVCL compilation failed')
}

function addProgram(
  engine: EngineState,
  { name, state, ...compiled }: Compiled & { name: string; state: 'auto' | 'cold' | 'warm' },
): VclProgram {
  const { source, initFailure } = compiled
  const program: VclProgram = {
    ...createProgram(name, state),
    warm: state !== 'cold',
    source,
    backends: compiled.backends.map((backend) => ({ ...backend, admin: 'auto', changedAtMs: 0 })),
    initFailure: initFailure === undefined ? undefined : toBytes(initFailure),
  }
  engine.programs.push(program)
  for (const label of compiled.labels) {
    const used = findProgram(engine, label)
    if (used !== undefined) addUse(engine, program, used)
  }
  return program
}

function loadInChild({ engine, reply, nowMs }: Call, program: VclProgram): void {
  if (engine.child === undefined) {
    reply.out('VCL compiled.\n')
    return
  }
  if (program.initFailure !== undefined) {
    forgetProgram(engine, program)
    reply
      .refuse(cliStatus.cannot, `VCL "${program.name}" Failed initialization`)
      .out(`\nMessage:\n\t${program.initFailure}\n`)
    return
  }
  for (const backend of program.backends) backend.changedAtMs = nowMs
  engine.child.programs.push(program)
  setIdleClock(engine, program, nowMs)
}

/** Undoes a load of a program that never became usable. */
function forgetProgram(engine: EngineState, program: VclProgram): void {
  engine.programs = engine.programs.filter((other) => other !== program)
  for (const used of program.uses) used.usedBy = used.usedBy.filter((user) => user !== program)
  if (engine.child !== undefined)
    engine.child.programs = engine.child.programs.filter((other) => other !== program)
}

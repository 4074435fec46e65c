/** vcl.list, vcl.deps, vcl.show: the loaded VCL, as listed by the manager and the child (mgt_vcl.c, cache_vcl.c). */
import { hasQuirk } from '../../quirks.js'
import { cliStatus } from '../../status.js'
import { findProgram, type VclProgram } from '../engine-state.js'
import { alignColumns } from '../reply-text.js'
import { ChildPanic, type Call } from './call.js'

export function listVcls(call: Call): void {
  const { engine, reply } = call
  if (call.isJson) {
    listAsJson(call)
    return
  }
  const programs = engine.child?.programs ?? engine.programs
  const { vclList } = engine.release
  if (vclList === 'joined') for (const program of programs) reply.out(printOldRow(call, program))
  else {
    const rows = programs.map((program) => printRow(call, program)).join('')
    reply.out(alignColumns(rows, vclList))
  }
}

/** Six tab-separated columns; busy is `-` while the child is stopped. From 7.4 on a mark right-aligns the number. */
function printRow(call: Call, program: VclProgram): string {
  const busy = call.engine.child === undefined ? '-' : String(countBusy(program))
  const row = [
    statusOf(call, program),
    program.state,
    temperatureOf(program),
    printBusy(call, busy),
    program.name,
  ]
  const { length: uses } = program.usedBy
  if (program.state === 'label') {
    const count = uses === 0 ? '' : ` (${uses} return(vcl)${uses > 1 ? "'s" : ''})`
    row.push('->', `${program.uses[0]?.name ?? ''}${count}`)
  } else if (uses > 0) row.push('<-', `(${uses} label${uses > 1 ? 's' : ''})`)
  return `${row.join('\t')}\n`
}

function printBusy({ engine }: Call, busy: string): string {
  if (engine.release.vclList === 'columns') return busy.padStart(6)
  // The manager of 7.4 pads its dash, that of 7.5 does not.
  if (engine.child === undefined) return engine.release.has([null, '7.5']) ? busy : busy.padStart(6)
  return `\v${busy}`
}

/** Up to 6.1: `%-10s %5s/%-8s %6u %s`, followed by the label. */
function printOldRow(call: Call, program: VclProgram): string {
  const temperature = `${program.state.padStart(5)}/${temperatureOf(program).padEnd(8)}`
  const busy = call.engine.child === undefined ? '-' : String(countBusy(program))
  const row = `${statusOf(call, program).padEnd(10)} ${temperature} ${busy.padStart(6)}`
  return `${row} ${program.name}${printOldLabel(program)}\n`
}

function printOldLabel({ state, uses, usedBy: { length } }: VclProgram): string {
  if (state !== 'label') return length === 0 ? '' : ` (${length} label${length > 1 ? 's' : ''})`
  const count = length === 0 ? '' : ` (${length} return(vcl)${length > 1 ? "'s" : ''})`
  return ` -> ${uses[0]?.name ?? ''}${count}`
}

function statusOf({ engine }: Call, program: VclProgram): string {
  if (program === engine.active) return 'active'
  return program.isDiscarded ? 'discarded' : 'available'
}

const temperatureOf = (program: VclProgram) =>
  program.isDiscarded ? 'busy' : program.warm ? 'warm' : 'cold'

/** Only discarded programs that stay listed count as busy, because there is no traffic. */
const countBusy = (program: VclProgram) => (program.isDiscarded ? 1 : 0)

function listAsJson(call: Call): void {
  const { engine, reply, words, nowMs } = call
  const isRunning = engine.child !== undefined
  reply.beginJson(2, words, nowMs)
  if (isRunning) reply.out(',\n')
  const programs = engine.child?.programs ?? engine.programs
  programs.forEach((program, at) => {
    if (!isRunning || at > 0) reply.out(',\n')
    reply.out('{\n').indent(2)
    reply.out(`"status": "${statusOf(call, program)}",\n`)
    reply.out(`"state": "${program.state}",\n`)
    reply.out(`"temperature": "${temperatureOf(program)}",\n`)
    if (isRunning) reply.out(`"busy": ${countBusy(program)},\n`)
    reply.out(`"name": "${program.name}"`)
    writeLabel(call, program)
    reply.indent(-2).out('\n}')
  })
  reply.endJson()
}

function writeLabel({ engine, reply }: Call, program: VclProgram): void {
  const { length: uses } = program.usedBy
  if (program.state !== 'label') {
    if (uses > 0) reply.out(',\n').out(`"labels": ${uses}`)
    return
  }
  reply.out(',\n').out('"label": {\n').indent(2)
  reply.out(`"name": "${program.uses[0]?.name ?? ''}"`)
  if (uses > 0) reply.out(`,\n"refs": ${uses}`)
  // The manager, which responds while the child is stopped, indents the end less.
  if (engine.child === undefined) reply.indent(-2).out('\n').out('}')
  else reply.out('\n').out('}').indent(-2)
}

export function listDependencies({ engine, reply, words, nowMs, isJson }: Call): void {
  if (!isJson) {
    const rows = engine.programs.flatMap(({ name, uses }) =>
      uses.length === 0 ? [`${name}\n`] : uses.map((used) => `${name}\t${used.name}\n`),
    )
    reply.out(alignColumns(rows.join('')))
    return
  }
  reply.beginJson(1, words, nowMs)
  for (const { name, uses } of engine.programs) {
    reply.out(',\n').out('{\n').indent(2).out(`"name": "${name}",\n`).out('"deps": [').indent(2)
    uses.forEach((used, at) => reply.out(at === 0 ? '\n' : ',\n').out(`"${used.name}"`))
    reply
      .indent(-2)
      .out(uses.length === 0 ? '' : '\n')
      .out(']\n')
      .indent(-2)
      .out('}')
  }
  reply.endJson()
}

/**
 * Shows the active program if no name is given; for a label its target, or it kills the child (up to 6.2); -v adds includes and the
 * built-in VCL.
 */
export function showVcl(call: Call): void {
  const { engine, reply, args } = call
  const isVerbose = args[0] === '-v'
  const [name = '', more] = isVerbose ? args.slice(1) : args
  const named = name === '' ? engine.active : findProgram(engine, name)
  if (more !== undefined) reply.refuse(cliStatus.parameter, `Too many parameters: '${more}'`)
  else if (named === undefined) reply.refuse(cliStatus.parameter, `No VCL named '${name}'`)
  else if (named.state === 'label' && hasQuirk(engine.release.version, 'shownLabelKillsChild'))
    throw new ChildPanic()
  else printSource(call, targetOf(named), isVerbose)
}

const targetOf = (program: VclProgram) =>
  program.state === 'label' ? (program.uses[0] ?? program) : program

/** A placeholder for the built-in VCL. */
const builtinVcl = 'vcl 4.0;\n'

function printSource({ engine, reply }: Call, { source }: VclProgram, isVerbose: boolean): void {
  const builtin = hasQuirk(engine.release.version, 'namesBuiltinPlainly') ? 'Builtin' : '<builtin>'
  if (!isVerbose) reply.out(source)
  else
    [source, builtinVcl].forEach((text, at) => {
      const name = at === 0 ? '<vcl.inline>' : builtin
      reply.out(`// VCL.SHOW ${at} ${text.length} ${name}\n${text}\n`)
    })
}

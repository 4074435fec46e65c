/** backend.list and backend.set_health (cache_director.c, cache_backend_probe.c). */
import { hasQuirk } from '../../quirks.js'
import { cliStatus } from '../../status.js'
import type { VclBackend, VclProgram } from '../engine-state.js'
import { matchesGlob } from '../glob.js'
import { alignColumns, quoteJson } from '../reply-text.js'
import { ChildPanic, type Call } from './call.js'

interface Row {
  readonly name: string
  readonly program: VclProgram
  readonly backend: VclBackend
}

export function listBackends(call: Call): void {
  const { reply, words, nowMs, engine } = call
  // `words` instead of `args`, because further flags may follow a first -j.
  const flags = takeWhile(words.slice(1), (word) => word.startsWith('-'))
  const letters = flags.flatMap((flag) => flag.slice(1).split(''))
  const unknown = letters.find((letter) => letter !== 'p' && letter !== 'j')
  if (unknown !== undefined) {
    reply.refuse(cliStatus.parameter, `Invalid flag ${unknown}`)
    return
  }
  // Giving -p twice turns it off.
  const isDetailed = letters.filter((letter) => letter === 'p').length % 2 === 1
  const [pattern, more] = words.slice(1 + flags.length)
  if (more !== undefined) {
    reply.refuse(cliStatus.parameter, 'Too many arguments')
    return
  }
  const rows = findBackends(call, pattern)
  if (!letters.includes('j')) {
    writeTable(call, rows, isDetailed)
    return
  }
  const version = engine.release.backendList === 'columns' ? 3 : 2
  reply.beginJson(version, words, nowMs).out(',\n').out('{\n').indent(2)
  rows.forEach((row, at) => {
    writeJsonRow(call, row, { isFirst: at === 0, isDetailed })
  })
  reply.indent(-2).out('\n').out('}').endJson()
}

function isDeadly({ engine }: Call, pattern: string | undefined): boolean {
  const { version } = engine.release
  if (pattern?.includes('.') !== true || !hasQuirk(version, 'patternKillsChild')) return false
  return engine.programs.some(({ state }) => state === 'label')
}

function takeWhile(words: readonly string[], fits: (word: string) => boolean): readonly string[] {
  const end = words.findIndex((word) => !fits(word))
  return end < 0 ? words : words.slice(0, end)
}

/** A pattern without a dot matches in the active program only, one with a dot in all programs (VCL_IterDirector). */
function findBackends(call: Call, pattern: string | undefined): readonly Row[] {
  const { engine } = call
  if (isDeadly(call, pattern)) throw new ChildPanic()
  const { active } = engine
  const isLocal = pattern === undefined || !pattern.includes('.')
  const full = isLocal ? `${active?.name ?? ''}.${pattern ?? '*'}` : pattern
  const programs = isLocal ? (active === undefined ? [] : [active]) : (engine.child?.programs ?? [])
  return programs.flatMap((program) =>
    program.backends
      // 6.0 does not list directors.
      .filter(({ members }) => members === undefined || engine.release.backendList !== 'lts')
      .map((backend) => ({ name: `${program.name}.${backend.name}`, program, backend }))
      .filter(({ name }) => matchesGlob(full, name)),
  )
}

interface Health {
  readonly admin: string
  readonly good: number
  readonly window: number
  readonly healthy: boolean
}

/** Probed backends have the simulated network's health; others are healthy. */
function judgeHealth({ engine }: Call, { program, backend }: Row): Health {
  const { admin, probe, members } = backend
  const isUp = engine.probes === 'healthy'
  if (members !== undefined) {
    const healthyMembers = members.filter((name) => {
      const member = program.backends.find((other) => other.name === name)
      if (member === undefined || member.admin !== 'auto') return member?.admin !== 'sick'
      return member.probe === undefined || isUp
    })
    return {
      admin: admin === 'auto' ? 'probe' : admin,
      good: healthyMembers.length,
      window: members.length,
      healthy: healthyMembers.length > 0,
    }
  }
  if (probe === undefined) {
    // Up to 6.1 an unset health is shown as probe, with or without a probe.
    const unset = engine.release.backendList === 'columns' ? 'healthy' : 'probe'
    return { admin: admin === 'auto' ? unset : admin, good: 0, window: 0, healthy: true }
  }
  return {
    admin: admin === 'auto' ? 'probe' : admin,
    good: isUp ? probe.window : 0,
    window: probe.window,
    healthy: isUp && program.warm,
  }
}

function writeTable(call: Call, rows: readonly Row[], isDetailed: boolean): void {
  const { engine, reply } = call
  if (engine.release.backendList !== 'columns') {
    writeOldTable(call, rows)
    return
  }
  const table = rows.map((row) => {
    const { admin, good, window, healthy } = judgeHealth(call, row)
    const health = healthy ? 'healthy' : 'sick'
    const changed = new Date(row.backend.changedAtMs).toUTCString()
    const details = isDetailed ? printDetails(call, row) : ''
    return `${row.name}\t${admin}\t${good}/${window}\t${health}\t${changed}${details}\n`
  })
  const text = `Backend name\tAdmin\tProbe\tHealth\tLast change\n${table.join('')}`
  reply.out(alignColumns(text, engine.release.vclList === 'right' ? 'right' : 'columns'))
}

/** Each row starts with a line feed; the text ends without one. */
function writeOldTable(call: Call, rows: readonly Row[]): void {
  const { engine, reply } = call
  const isLts = engine.release.backendList === 'lts'
  const heading = isLts ? ['Probe', 'Last updated'] : ['Probe', 'Last change']
  const widths = isLts ? [30, 10, 20] : [30, 7, 10]
  const join = (...cells: readonly string[]) =>
    cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' ')
  reply.out(join('Backend name', 'Admin', ...heading))
  for (const row of rows) {
    const { admin } = judgeHealth(call, row)
    const changed = new Date(row.backend.changedAtMs).toUTCString()
    reply.out(
      `\n${join(row.name, admin, isLts ? printLtsProbe(call, row) : printOldProbe(call, row), changed)}`,
    )
  }
}

/** `%-20s` ends before the counts, so probed rows are wider (6.0, do_list). */
function printLtsProbe(call: Call, row: Row): string {
  const { good, window, healthy } = judgeHealth(call, row)
  if (window === 0) return 'Healthy (no probe)'
  return `${(healthy ? 'Healthy ' : 'Sick ').padEnd(20)}${good}/${window}`
}

/** As in 6.1, VBP_Status. */
function printOldProbe(call: Call, row: Row): string {
  const { good, window, healthy } = judgeHealth(call, row)
  if (window === 0) return healthy ? 'healthy' : 'sick'
  return `${good}/${window} ${healthy ? 'good' : 'bad'}`
}

const historyLength = 64

function printDetails(call: Call, row: Row): string {
  const { probe } = row.backend
  const { good } = judgeHealth(call, row)
  if (probe === undefined) return ''
  const history = 'H'.repeat(good).padStart(historyLength, '-')
  return [
    `\n Current states  good: ${String(good).padStart(2)}`,
    ` threshold: ${String(probe.threshold).padStart(2)} window: ${String(probe.window).padStart(2)}`,
    '\n  Average response time of good probes: 0.000000',
    '\n  Oldest ================================================== Newest',
    good === 0 ? '' : `\n  ${history} Happy`,
    '\n',
  ].join('')
}

function writeJsonRow(
  call: Call,
  row: Row,
  { isFirst, isDetailed }: { readonly isFirst: boolean; readonly isDetailed: boolean },
): void {
  const { reply } = call
  const { backend } = row
  const { admin, good, window, healthy } = judgeHealth(call, row)
  reply
    .out(isFirst ? '' : ',\n')
    .out(quoteJson(row.name))
    .out(': {\n')
    .indent(2)
  reply.out(`"type": "${backend.type}",\n`).out(`"admin_health": "${admin}",\n`)
  const message =
    call.engine.release.backendList === 'single'
      ? quoteJson(printOldProbe(call, row))
      : `[${good}, ${window}, "${healthy ? 'healthy' : 'sick'}"]`
  reply.out(`"probe_message": ${message}`).out(',\n')
  if (isDetailed) {
    reply.out('"probe_details": ')
    if (backend.members !== undefined) reply.out('{\n"backends": {}\n},\n')
    else if (backend.probe === undefined) reply.out('{},\n')
    else {
      const { threshold } = backend.probe
      reply.out('{\n').indent(2).out(`"good": ${good},\n`).out(`"threshold": ${threshold},\n`)
      reply.out(`"window": ${window}`).indent(-2).out('\n').out('},\n')
    }
  }
  reply
    .out(`"last_change": ${(backend.changedAtMs / 1000).toFixed(3)}\n`)
    .indent(-2)
    .out('}')
}

export function setBackendHealth(call: Call): void {
  const { engine, reply, nowMs } = call
  const [pattern = '', given = ''] = call.args
  // The older word for `auto` (6.0, vdi_str2ahealth).
  const word = given === 'probe' && engine.release.backendList === 'lts' ? 'auto' : given
  if (word !== 'auto' && word !== 'healthy' && word !== 'sick') {
    reply.refuse(cliStatus.parameter, `Invalid state ${word}`)
    return
  }
  const rows = findBackends(call, pattern)
  if (rows.length === 0) reply.refuse(cliStatus.parameter, 'No Backends matches')
  for (const { backend } of rows) {
    if (backend.admin === word) continue
    backend.admin = word
    backend.changedAtMs = nowMs
  }
}

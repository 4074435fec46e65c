/** ban and ban.list (cache_ban_build.c, cache_ban.c). The engine stores no objects, so bans are only checked and listed. */
import { cliStatus } from '../../status.js'
import type { Ban } from '../engine-state.js'
import { hasQuirk } from '../../quirks.js'
import { isOn } from '../param-table.js'
import { findRegexMistake } from '../regex-check.js'
import type { Since } from '../../release.js'
import type { EngineRelease } from '../release.js'
import { quoteBare } from '../reply-text.js'
import { ChildPanic, type Call } from './call.js'

/** The ban lurker removes bans that no object refers to; this engine keeps the newest ones up to this number. */
const listedBans = 1000

/** A header's name, its colon and a length byte are stored with one signed byte: the child asserts on more (tested on 7.1.1). */
const headerNameBytes = 126

interface BanField {
  readonly name: string
  readonly takes: 'text' | 'header' | 'duration'
  /** The value changes over time, so two equal bans differ. */
  readonly isMoving?: boolean
  readonly since?: Since
}

/** In the engine's order of comparison; only the prefix must match: `req.urlx` is read as `req.url`. */
const fields: readonly BanField[] = [
  { name: 'req.url', takes: 'text' },
  { name: 'req.http.', takes: 'header' },
  { name: 'obj.status', takes: 'text' },
  { name: 'obj.http.', takes: 'header' },
  { name: 'obj.ttl', takes: 'duration', isMoving: true },
  { name: 'obj.age', takes: 'duration', isMoving: true },
  { name: 'obj.last_hit', takes: 'duration', isMoving: true, since: [null, '8.0'] },
  { name: 'obj.grace', takes: 'duration' },
  { name: 'obj.keep', takes: 'duration' },
]

const textOperators = ['==', '!=', '~', '!~']
const durationOperators = ['==', '!=', '>', '>=', '<', '<=']

interface Test extends Pick<Ban, 'spec' | 'jsonSpec'> {
  /** A ban with such a test does not complete older ones (ban_vars.h NODEDUP). */
  readonly isUnique: boolean
}

export function addBan(call: Call): void {
  const { reply, args } = call
  const conjunction = args.find((word, at) => at % 4 === 3 && word !== '&&')
  if (args.length % 4 !== 3) {
    reply.refuse(cliStatus.parameter, 'Wrong number of arguments')
    return
  }
  if (conjunction !== undefined) {
    reply.refuse(cliStatus.parameter, `Found "${conjunction}" expected &&`)
    return
  }
  const tests: Test[] = []
  for (let at = 0; at < args.length; at += 4) {
    const test = parseTest(args.slice(at, at + 3), call.engine.release)
    if (typeof test === 'string') {
      reply.refuse(cliStatus.parameter, test)
      return
    }
    tests.push(test)
  }
  commitBan(call, tests)
}

function commitBan({ engine, nowMs }: Call, tests: readonly Test[]): void {
  const bans = engine.child?.bans ?? []
  const ban: Ban = {
    // Times of bans are unique.
    atMs: Math.max(nowMs, (bans[0]?.atMs ?? 0) + 0.001),
    spec: tests.map(({ spec }) => spec).join(' && '),
    jsonSpec: tests.map(({ jsonSpec }) => jsonSpec).join(' && '),
    completed: false,
    completesOlder: isOn(engine, 'ban_dups') && !tests.some(({ isUnique }) => isUnique),
  }
  bans.unshift(ban)
  bans.length = Math.min(bans.length, listedBans)
}

function parseTest(words: readonly string[], release: EngineRelease): Test | string {
  const [name = '', operator = '', value = ''] = words
  const field = fields.find((known) => name.startsWith(known.name))
  if (field === undefined || !isKnown(field, release))
    return `Unknown or unsupported field "${name}"`
  const header = field.takes === 'header' ? name.slice(field.name.length) : ''
  if (header.length > headerNameBytes) throw new ChildPanic()
  const operators = field.takes === 'duration' ? durationOperators : textOperators
  if (!operators.includes(operator)) {
    const list = `${operators.slice(0, -1).join(', ')} or ${operators.at(-1) ?? ''}`
    return `expected conditional (${list}) got "${operator}"`
  }
  const left = `${field.name}${header} ${operator} `
  return field.takes === 'duration'
    ? parseDurationTest(field, left, value)
    : parseTextTest(left, value, operator.includes('~'))
}

function isKnown({ takes, since }: BanField, { version, has }: EngineRelease): boolean {
  if (since !== undefined && !has(since)) return false
  return takes !== 'duration' || !hasQuirk(version, 'lacksBanAges')
}

function parseDurationTest(field: BanField, left: string, value: string): Test | string {
  const seconds = readDuration(value)
  if (seconds === undefined) return `expected duration <n.nn>[ms|s|m|h|d|w|y] got "${value}"`
  const spec = left + printDuration(seconds)
  return { spec, jsonSpec: spec, isUnique: field.isMoving ?? false }
}

function parseTextTest(left: string, value: string, isPattern: boolean): Test | string {
  const mistake = isPattern ? findRegexMistake(value) : undefined
  if (mistake !== undefined) return `Regex compile error: ${mistake}`
  return { spec: left + value, jsonSpec: left + quoteBare(value), isUnique: false }
}

const unitSeconds: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
}

/** vnum.c VNUM_duration: three decimals are significant. */
function readDuration(text: string): number | undefined {
  const match = /^(-?)(\d{1,15}(?:\.\d{0,3})?|\.\d{1,3})\d*(ms|[smhdwy])$/.exec(text)
  const [, sign, digits, unit] = match ?? []
  const scale = unitSeconds[unit ?? '']
  if (digits === undefined || scale === undefined) return undefined
  return Number(digits) * scale * (sign === '-' ? -1 : 1)
}

/** cache_ban.c vdur_render: uses the largest unit that divides the value. */
function printDuration(seconds: number): string {
  const whole = Math.floor(seconds)
  const millis = Math.floor(seconds * 1000) % 1000
  if (whole === 0) return millis === 0 ? '0s' : `${millis}ms`
  if (millis !== 0) return `${whole}.${String(millis).padStart(3, '0')}s`
  const unit = ['y', 'w', 'd', 'h', 'm'].find((each) => whole % (unitSeconds[each] ?? 1) === 0)
  return `${whole / (unitSeconds[unit ?? 's'] ?? 1)}${unit ?? 's'}`
}

/** Expects and returns the bans newest first. */
function judgeCompletion(bans: readonly Ban[]): readonly Ban[] {
  const completing = new Set<string>()
  return bans.map((ban) => {
    const completed = ban.completed || completing.has(ban.spec)
    if (ban.completesOlder) completing.add(ban.spec)
    return { ...ban, completed }
  })
}

export function listBans({ engine, reply, words, nowMs, isJson }: Call): void {
  const bans = judgeCompletion(engine.child?.bans ?? [])
  if (!isJson) {
    reply.out('Present bans:\n')
    for (const { atMs, completed, spec } of bans)
      reply.out(`${(atMs / 1000).toFixed(6)}     0 ${completed ? 'C' : '-'}  ${spec}\n`)
    return
  }
  reply.beginJson(2, words, nowMs).out(',\n')
  bans.forEach(({ atMs, completed, jsonSpec }, at) => {
    reply
      .out(at === 0 ? '' : ',\n')
      .out('{\n')
      .indent(2)
    reply.out(`"time": ${(atMs / 1000).toFixed(6)},\n`).out('"refs": 0,\n')
    reply.out(`"completed": ${completed},\n`)
    // Not valid JSON if it contains control bytes or bytes from 0x7f on: the engine writes `\303`.
    reply.out(`"spec": "${jsonSpec}"`).indent(-2).out('\n}')
  })
  reply.endJson()
}

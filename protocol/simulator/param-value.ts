/** Values of parameters: parses input, and prints text and JSON (mgt_param_tweak.c, mgt_param_bits.c). */
import type { EngineState } from './engine-state.js'
import { quoteJson } from './reply-text.js'
import { parseBits, type BitParam } from './param-bits.js'
import {
  defaultOf,
  limitsOf,
  readBytes,
  settingOf,
  type ParamLimit,
  type ParamLimits,
  type ParamSpec,
} from './param-table.js'

type ParsedValue = { readonly text: string } | { readonly refusal: string }

/** Parses a parameter's input: returns the value in the engine's printed form, or why it is refused. */
export function parseParamValue(engine: EngineState, spec: ParamSpec, input: string): ParsedValue {
  const { minimum, maximum } = limitsOf(engine, spec)
  switch (spec.kind) {
    case 'bool':
      return parseBool(input)
    case 'count':
      return parseCount(input, minimum, maximum)
    case 'decimal':
      return parseDecimal(input, { minimum, maximum }, (value) =>
        String(Number(value.toPrecision(6))),
      )
    case 'seconds':
      return parseDecimal(input, { minimum, maximum }, (value) => value.toFixed(3))
    case 'bytes':
      return parseBytes(input, minimum, maximum)
    case 'bits':
      return parseBits(engine.release, describeBits(engine, spec), input)
    case 'pool':
      return parsePool(input)
    case 'storage':
      return parseStorage(engine, input)
    case 'text':
    case 'none':
      return { text: input }
  }
}

function describeBits(engine: EngineState, spec: ParamSpec): BitParam {
  const setting = settingOf(engine, spec)
  return { name: spec.name, setting, defaultText: defaultOf(engine, spec) }
}

/** The value as JSON: plain numbers, bytes as an integer, booleans, objects for pools, otherwise a string. */
export function toJsonValue(spec: ParamSpec, text: string): string {
  if (spec.kind === 'bool') return text === 'on' ? 'true' : 'false'
  if (spec.kind === 'count') return text === 'unlimited' ? String(unlimited) : text
  if (spec.kind === 'bytes') return String(readBytes(text))
  if (spec.kind === 'decimal' || spec.kind === 'seconds') return text
  if (spec.kind !== 'pool') return quoteJson(text)
  const [least = '', most = '', age = ''] = text.split(',')
  return `{\n        "min_pool": ${least},\n        "max_pool": ${most},\n        "max_age": ${age}\n    }`
}

const unlimited = 4294967295

const on = new Set(['on', 'enable', 'yes', 'true'])
const off = new Set(['off', 'disable', 'no', 'false'])

function parseBool(input: string): ParsedValue {
  const word = input.toLowerCase()
  if (on.has(word)) return { text: 'on' }
  return off.has(word) ? { text: 'off' } : { refusal: 'use "on" or "off"\n' }
}

function parseCount(input: string, minimum?: ParamLimit, maximum?: ParamLimit): ParsedValue {
  const value = input.toLowerCase() === 'unlimited' ? unlimited : readUnsigned(input)
  if (value === undefined) return { refusal: `Not a number (${input})\n` }
  const reason = (limit: ParamLimit) =>
    limit.because === undefined ? limit.text : `${limit.text} (${limit.because})`
  if (minimum !== undefined && value < Number(minimum.text))
    return { refusal: `Must be at least ${reason(minimum)}\n` }
  if (maximum !== undefined && value > Number(maximum.text))
    return { refusal: `Must be no more than ${reason(maximum)}\n` }
  return { text: value === unlimited ? 'unlimited' : String(value) }
}

/** strtoul(3) with any base, truncated to 32 bits. */
function readUnsigned(input: string): number | undefined {
  const match = /^[ \t\n\v\f\r]*([+-]?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(input)
  const digits = match?.[2]
  if (digits === undefined) return undefined
  const isOctal = /^0[0-7]+$/.test(digits)
  const value = isOctal ? parseInt(digits, 8) : Number(digits)
  return (match?.[1] === '-' ? -value : value) >>> 0
}

/** Only the leading number counts: `10m` is 10 seconds, not minutes (tested on 7.1.1). */
function parseDecimal(
  input: string,
  { minimum, maximum }: ParamLimits,
  print: (value: number) => string,
): ParsedValue {
  const digits = /^[ \t]*(-?(?:\d{1,15}(?:[ \t]*\.\d{0,3})?|\.\d{1,3}))/.exec(input)?.[1]
  if (/^[ \t]*-?\d{16}/.test(input)) return { refusal: `Too many digits (${input})\n` }
  if (digits === undefined) return { refusal: `Invalid number (${input})\n` }
  const value = Number(digits.replace(/[ \t]/g, ''))
  if (minimum !== undefined && value < Number(minimum.text))
    return { refusal: `Must be greater or equal to ${minimum.text}\n` }
  if (maximum !== undefined && value > Number(maximum.text))
    return { refusal: `Must be less than or equal to ${maximum.text}\n` }
  return { text: print(value) }
}

function parseBytes(input: string, minimum?: ParamLimit, maximum?: ParamLimit): ParsedValue {
  const refuse = (why: string) => ({
    refusal: `Could not convert to bytes.\n${why}\n  Try something like '80k' or '120M'\n`,
  })
  const match = /^[ \t]*(\d{1,15}(?:[ \t]*\.\d{1,3})?)[ \t]*(.*)$/s.exec(input)
  if (match === null) return refuse('Invalid number')
  const count = Number(match[1]?.replace(/[ \t]/g, ''))
  const exponent = readUnit(match[2] ?? '')
  if (exponent === undefined) return refuse('Unknown BYTES unit of measurement ([KMGTP][B])')
  if (exponent === 0 && !Number.isInteger(count)) return refuse('Fractional BYTES not allowed')
  const value = Math.trunc(count * 2 ** exponent)
  if (maximum !== undefined && value > readBytes(maximum.text))
    return { refusal: `Must be no more than ${maximum.text}\n\n` }
  if (minimum !== undefined && value < readBytes(minimum.text))
    return { refusal: `Must be at least ${minimum.text}\n` }
  return { text: printBytes(value) }
}

/** The exponent of two for `k`, `MB`, `b` or no unit. */
function readUnit(text: string): number | undefined {
  const unit = /^(?:([kmgtp])b?|b{0,2})[ \t]*$/i.exec(text)
  if (unit === null) return undefined
  const scale = unit[1]?.toLowerCase()
  return scale === undefined ? 0 : 10 * ('kmgtp'.indexOf(scale) + 1)
}

/** mgt_param_tweak.c fmt_bytes. */
function printBytes(bytes: number): string {
  if (bytes === 0 || bytes % 256 !== 0) return `${bytes}b`
  let left = bytes
  for (const unit of 'kMGTP') {
    if (left % 1024 !== 0) return `${(left / 1024).toFixed(2)}${unit}`
    left /= 1024
    if (left % 256 !== 0) return `${left}${unit}`
  }
  return '(bogus number)'
}

function parsePool(input: string): ParsedValue {
  const [least, most, age] = input.split(',').map((word) => word.trim())
  if (least === undefined || most === undefined || age === undefined)
    return { refusal: 'Three fields required: min_pool, max_pool and max_age\n' }
  const fewest = parseCount(least)
  if ('refusal' in fewest) return fewest
  const largest = parseCount(most)
  if ('refusal' in largest) return largest
  const oldest = parseDecimal(
    age,
    { minimum: { text: '0' }, maximum: { text: '1000000' } },
    (value) => String(Number(value.toPrecision(6))),
  )
  if ('refusal' in oldest) return oldest
  if (Number(fewest.text) > Number(largest.text))
    return { refusal: 'min_pool cannot be larger than max_pool\n' }
  return { text: `${fewest.text},${largest.text},${oldest.text}` }
}

function parseStorage(engine: EngineState, input: string): ParsedValue {
  const isKnown =
    input === 'Transient' || engine.setup.storage.some((storage) => storage.name === input)
  return isKnown ? { text: input } : { refusal: `unknown storage backend '${input}'` }
}

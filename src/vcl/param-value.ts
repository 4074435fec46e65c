/**
 * Compares a parameter's desired value with the cache's output: `10` is shown as `10.000`, `65536` as `64k`, `yes` as `on` (as in
 * mgt_param_tweak.c and mgt_param_bits.c). Pure.
 */

export interface ShownParam {
  readonly value: string
  readonly default: string
  /** For example `seconds`, `bytes`. */
  readonly unit: string
}

const words: Readonly<Record<string, string>> = {
  enable: 'on',
  yes: 'on',
  true: 'on',
  disable: 'off',
  no: 'off',
  false: 'off',
}

const secondsOf: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
}

export function isShownAs(wanted: string, shown: ShownParam): boolean {
  const text = simplify(wanted)
  const seen = simplify(shown.value)
  if (text === 'default') return seen === simplify(shown.default)
  if (text === seen) return true
  if (isBits(text)) return text.split(',').every((word) => holdsBit(seen, word))
  const number = readNumber(seen, shown.unit)
  if (number === undefined) return false
  return readMeanings(text, shown.unit).some((meant) => isNear(meant, number))
}

function simplify(value: string): string {
  const parts = value.toLowerCase().split(',')
  const text = parts.map((part) => part.trim()).join(',')
  return words[text] ?? text
}

function isBits(text: string): boolean {
  return text.split(',').some((word) => /^[+-][a-z_]/.test(word))
}

/** The cache shows the set bits, `+a,+b`, or the unset ones, `-a,-b`; from 7.5 on after `none` or `all`. */
function holdsBit(seen: string, word: string): boolean {
  if (!/^[+-]/.test(word)) return true
  const bit = word.slice(1)
  const shown = seen.split(',')
  const isRest = shown.some((one) => one === 'all' || one.startsWith('-'))
  const isSet = isRest ? !shown.includes(`-${bit}`) : shown.includes(`+${bit}`)
  return isSet === word.startsWith('+')
}

/** Older releases read `10m` as 10 seconds (tested on 7.1.1), newer ones as 600. */
function readMeanings(text: string, unit: string): readonly number[] {
  const number = readNumber(text, unit)
  const start = unit === 'seconds' ? Number.parseFloat(text) : Number.NaN
  return [number ?? Number.NaN, start].filter((one) => !Number.isNaN(one))
}

function readNumber(text: string, unit: string): number | undefined {
  const [, digits, suffix = ''] = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z]*)$/.exec(text) ?? []
  if (digits === undefined) return /^0x[0-9a-f]+$/.test(text) ? Number(text) : undefined
  const factor = suffix === '' ? 1 : unit === 'bytes' ? bytesOf(suffix) : secondsOf[suffix]
  return factor === undefined ? undefined : Number(digits) * factor
}

function bytesOf(suffix: string): number | undefined {
  const [, scale] = /^([kmgtp]?)b?$/.exec(suffix) ?? []
  return scale === undefined ? undefined : 1024 ** ' kmgtp'.indexOf(scale || ' ')
}

/** Seconds are shown with three decimals, other values with six significant digits. */
function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(0.001, Math.abs(b) * 1e-5)
}

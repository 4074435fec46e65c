/** Formats numbers for reading: short, with their units, consistently everywhere. */

const whole = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const fraction = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
/** From here on whole numbers are too long for a cell. */
const shortFrom = 100_000

/** Shown for unknown values. */
export const unknown = '–'

export function formatCount(value: number | null | undefined): string {
  if (value == null) return unknown
  return value < shortFrom ? whole.format(value) : short.format(value)
}

/** Events per second. */
export function formatRate(perSecond: number | null | undefined): string {
  if (perSecond == null) return unknown
  return `${perSecond < 100 ? fraction.format(perSecond) : formatCount(Math.round(perSecond))}/s`
}

/** `part` of `all`; unknown if `all` is missing or not positive. */
export function formatShare(
  part: number | null | undefined,
  all: number | null | undefined,
): string {
  return part == null || all == null || all <= 0 ? unknown : share.format(part / all)
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes == null) return unknown
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1)
  return `${fraction.format(bytes / 1024 ** power)} ${byteUnits[power] ?? ''}`
}

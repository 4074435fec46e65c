/** A figure is one printed line: the measured value, its baseline from the same run, their ratio, the goal, met or not. */

export interface Figure {
  readonly name: string
  /** With its unit. */
  readonly measured: string
  /** With its unit and name; null: no comparison. */
  readonly baseline: string | null
  /** Measured value divided by the baseline. */
  readonly ratio?: number
  /** In words; null: only reported. */
  readonly goal: string | null
  readonly isMet?: boolean
}

/** Receives each figure as soon as it is known. */
export type Report = (figure: Figure) => void

/** One value of each side, measured one right after the other, so that other load affects both. */
export interface Pair {
  readonly ours: number
  readonly bare: number
}

interface RateFigure {
  readonly name: string
  readonly unit: string
  readonly baselineName: string
  readonly pairs: readonly Pair[]
  readonly leastRatio: number
}

/** The ratio is the median of the pairs' ratios, not that of the medians: a busy moment spoils one pair only. */
export function compareRates(rates: RateFigure): Figure {
  const { name, unit, baselineName, pairs, leastRatio } = rates
  const ratio = median(pairs.map(({ ours, bare }) => ours / bare))
  return {
    name,
    measured: `${formatCount(median(pairs.map(({ ours }) => ours)))} ${unit}`,
    baseline: `${baselineName} ${formatCount(median(pairs.map(({ bare }) => bare)))}`,
    ratio,
    goal: `ratio >= ${leastRatio}`,
    isMet: ratio >= leastRatio,
  }
}

export function printFigure({ name, measured, baseline, ratio, goal, isMet }: Figure): string {
  const verdict = isMet === undefined ? '' : isMet ? 'met' : 'NOT MET'
  const columns = [
    name.padEnd(60),
    measured.padEnd(18),
    (baseline ?? '-').padEnd(44),
    (ratio === undefined ? '' : `ratio ${ratio.toFixed(2)}`).padEnd(12),
    (goal === null ? 'reported' : `goal ${goal}`).padEnd(26),
    verdict,
  ]
  return columns.join(' ').trimEnd()
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The nearest value at or above that share of the values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function formatMs(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${formatCount(value)} ms`
}

export function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

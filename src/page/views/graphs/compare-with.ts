/** The comparison of a range with an earlier one of the same length, as in the URL. Pure functions. */
import type { Columns } from '../../charts/align-series.js'
import type { Mark } from '../../../resources/mark.js'

interface Comparison {
  /** How much earlier, in seconds. */
  readonly offset: number
  /** "an hour ago". */
  readonly title: string
}

export const fixedComparisons = [
  { value: '1h', title: 'an hour ago', offset: 3_600 },
  { value: '1d', title: 'a day ago', offset: 86_400 },
  { value: '7d', title: 'a week ago', offset: 604_800 },
] as const

/** The number of deploys offered. */
const maxDeploys = 10
const deployKinds: readonly string[] = ['deploy', 'rollback', 'promote', 'reload', 'undeploy']

/** Lists comparisons in addition to the fixed ones: before each deploy, newest first. */
export function listDeploys(
  marks: readonly Mark[],
): readonly { readonly value: string; readonly mark: Mark }[] {
  return marks
    .filter(({ kind, failed }) => !failed && deployKinds.includes(kind))
    .slice(0, maxDeploys)
    .map((mark) => ({ value: String(Math.floor(Date.parse(mark.at) / 1000)), mark }))
}

/** `word`: from the URL; a number is the time of a deploy. Null: no comparison. */
export function readComparison(word: string, toSeconds: number): Comparison | null {
  const fixed = fixedComparisons.find(({ value }) => value === word)
  if (fixed) return fixed
  const moment = /^\d{9,11}$/.test(word) ? Number(word) : toSeconds
  // The period before the deploy is aligned with the end of the range.
  return moment < toSeconds ? { offset: toSeconds - moment, title: 'before the deploy' } : null
}

export function moveColumns({ times, values }: Columns, offset: number): Columns {
  return { times: times.map((time) => time + offset), values }
}

/** What a range is compared with: an earlier time of the same length, as in the address. Values in, values out. */
import type { Columns } from '../../charts/align-series.js'
import type { Mark } from '../../../resources/mark.js'

interface Comparison {
  /** Seconds that it lies earlier. */
  readonly offset: number
  /** "an hour ago". */
  readonly title: string
}

export const fixedComparisons = [
  { value: '1h', title: 'an hour ago', offset: 3_600 },
  { value: '1d', title: 'a day ago', offset: 86_400 },
  { value: '7d', title: 'a week ago', offset: 604_800 },
] as const

/** So many deploys are offered. */
const deploysMost = 10
const deployKinds: readonly string[] = ['deploy', 'rollback', 'promote', 'reload', 'undeploy']

/** What may be compared with, beside what is always offered: before each deploy, the newest first. */
export function listDeploys(
  marks: readonly Mark[],
): readonly { readonly value: string; readonly mark: Mark }[] {
  return marks
    .filter(({ kind, failed }) => !failed && deployKinds.includes(kind))
    .slice(0, deploysMost)
    .map((mark) => ({ value: String(Math.floor(Date.parse(mark.at) / 1000)), mark }))
}

/** `word`: of the address; a number is the moment of a deploy. Null: nothing is compared. */
export function readComparison(word: string, toSeconds: number): Comparison | null {
  const fixed = fixedComparisons.find(({ value }) => value === word)
  if (fixed) return fixed
  const moment = /^\d{9,11}$/.test(word) ? Number(word) : toSeconds
  // What lies before it then ends where the range ends.
  return moment < toSeconds ? { offset: toSeconds - moment, title: 'before the deploy' } : null
}

export function moveColumns({ times, values }: Columns, offset: number): Columns {
  return { times: times.map((time) => time + offset), values }
}

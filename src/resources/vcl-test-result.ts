/** The result of a VCL test. */
import { Type } from 'typebox'
import { finite, list, orNull, text, whole, type Fitting } from './json-fields.js'

/** Per file, whose 64 KiB have room for fewer. */
const maxProblems = 20_000
const maxLogLines = 1_000

const stepResult = Type.Object({
  number: whole(1),
  /** The line where it begins in the file. */
  line: whole(1),
  /** `GET http://www.example/a`, `ban obj.status != 0`. */
  title: text,
  durationMs: finite,
  /** Such as `expected status 200, got 503`; empty: it passed. */
  problems: list(text, maxProblems),
  /** The cache's log of the request if the step failed. */
  log: list(text, maxLogLines),
})
export type StepResult = Fitting<typeof stepResult>

export const testResult = Type.Object({
  /** The name under which it was passed. */
  file: text,
  name: text,
  durationMs: finite,
  /** The steps that were run. */
  steps: list(stepResult, 1_000),
  /** How many steps the test has. */
  planned: whole(0),
  /** Possible causes of a failure: backends that were sick from the beginning. */
  notes: list(text, maxProblems),
  /** Why not all steps were run, or none; null: they were. */
  trouble: orNull(text),
})
export type TestResult = Fitting<typeof testResult>

export function hasPassed({ trouble, steps }: TestResult): boolean {
  return trouble === null && steps.every(({ problems }) => problems.length === 0)
}

/** Limits per file; further failures are only counted. */
const failuresShown = 5
const problemsShown = 20
const lineLimitCharacters = 500

/** Failures as lines: each failed step with the cache's log of it (docs/behaviour.md, Tests of VCL). */
export function listFailures({ file, steps, notes, trouble }: TestResult): readonly string[] {
  const failed = steps.filter(({ problems }) => problems.length > 0)
  const hidden = failed.length - failuresShown
  return [
    ...failed.slice(0, failuresShown).flatMap((step) => describeFailure(file, step)),
    ...(hidden > 0 ? [`and ${hidden} more failed`] : []),
    ...notes,
    ...(trouble === null ? [] : trouble.split('\n')),
  ]
}

function describeFailure(file: string, step: StepResult): readonly string[] {
  const log =
    step.log.length === 0
      ? []
      : [`${step.title}, in the log of the cache:`, ...step.log.map((line) => `  ${line}`)]
  return [describeStep(file, step), ...log.map((line) => `  ${line}`)]
}

export function describeStep(file: string, { line, number, problems }: StepResult): string {
  return `${file} line ${line}: step ${number}: ${problems.join('; ')}`
}

/** Keeps only the displayed part of the failures, so that the size of a message is bounded. */
export function shortenResult(result: TestResult): TestResult {
  const { steps, notes, trouble } = result
  const failed = steps.filter(({ problems }) => problems.length > 0)
  const hidden = failed.length - failuresShown
  const cut = (line: string) =>
    line.length > lineLimitCharacters ? `${line.slice(0, lineLimitCharacters)}…` : line
  return {
    ...result,
    steps: failed.slice(0, failuresShown).map((step) => ({
      ...step,
      problems: step.problems.slice(0, problemsShown).map(cut),
      log: step.log.map(cut),
    })),
    notes: [...notes.slice(0, problemsShown), ...(hidden > 0 ? [`and ${hidden} more failed`] : [])],
    trouble,
  }
}

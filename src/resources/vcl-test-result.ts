/** What became of a test of VCL. */
import { Type } from 'typebox'
import { finite, list, orNull, text, whole, type Fitting } from './json-fields.js'

/** Of a file, whose 64 KiB have room for fewer. */
const problemsMost = 20_000
const logLinesMost = 1_000

const stepResult = Type.Object({
  number: whole(1),
  /** Where it begins in the file. */
  line: whole(1),
  /** `GET http://www.example/a`, `ban obj.status != 0`. */
  title: text,
  durationMs: finite,
  /** `expected status 200, got 503`; none: it passed. */
  problems: list(text, problemsMost),
  /** What the cache logged of its request, when it failed. */
  log: list(text, logLinesMost),
})
export type StepResult = Fitting<typeof stepResult>

export const testResult = Type.Object({
  /** As it is called where it was given. */
  file: text,
  name: text,
  durationMs: finite,
  /** Those that were run. */
  steps: list(stepResult, 1_000),
  /** How many it has. */
  planned: whole(0),
  /** What may explain a failure: which backends were sick from the beginning. */
  notes: list(text, problemsMost),
  /** Why not all steps were run, or none; null: they were. */
  trouble: orNull(text),
})
export type TestResult = Fitting<typeof testResult>

export function hasPassed({ trouble, steps }: TestResult): boolean {
  return trouble === null && steps.every(({ problems }) => problems.length === 0)
}

/** Of one file: what is more is counted. */
const failuresShown = 5
const problemsShown = 20
const lineLimitCharacters = 500

/** What failed: each step with what the cache logged of it, a line each (docs/behaviour.md, Tests of VCL). */
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

/** Only what failed and what is shown of it: what travels is bounded, whatever a test does. */
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

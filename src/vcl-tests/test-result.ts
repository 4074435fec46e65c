/** What became of a test file. */

export interface StepResult {
  readonly number: number
  /** Where it begins in the file. */
  readonly line: number
  /** `GET http://www.example/a`, `ban obj.status != 0`. */
  readonly title: string
  readonly durationMs: number
  /** `expected status 200, got 503`; none: it passed. */
  readonly problems: readonly string[]
  /** What the cache logged of its request, when it failed. */
  readonly log: readonly string[]
}

export interface TestResult {
  /** As it is called where it was given. */
  readonly file: string
  readonly name: string
  readonly durationMs: number
  /** Those that were run. */
  readonly steps: readonly StepResult[]
  /** How many it has. */
  readonly planned: number
  /** What may explain a failure: which backends were sick from the beginning. */
  readonly notes: readonly string[]
  /** Why not all steps were run, or none; null: they were. */
  readonly trouble: string | null
}

export function hasPassed({ trouble, steps }: TestResult): boolean {
  return trouble === null && steps.every(({ problems }) => problems.length === 0)
}

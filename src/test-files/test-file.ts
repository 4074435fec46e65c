/** A runnable VCL test: repeats are unrolled, and each step has the line where it begins. */
import type { Handling } from '../resources/logged-transaction.js'

/** docs/behaviour.md, Tests of VCL. */
export const testFileLimitBytes = 64 * 1024
/** After repetition; a repeat itself does not count. */
export const maxSteps = 1_000
export const maxRepeats = 1_000
export const maxRepeatDepth = 2
/** About ten years. */
export const advanceMostSeconds = 315_360_000
/** The time limit of a whole file. */
export const delayMostMs = 30_000
export const patternLimitCharacters = 1_000

/** `matches`: a JavaScript regular expression. */
export type TextExpectation =
  | { readonly kind: 'equals' | 'matches' | 'contains'; readonly text: string }
  | { readonly kind: 'absent' }

export type HeaderExpectations = readonly (readonly [name: string, expected: TextExpectation])[]
export type Headers = readonly (readonly [name: string, value: string])[]

/** How a backend answers matching requests; the first matching rule wins. */
export interface BackendRule {
  readonly match: {
    readonly url: TextExpectation | null
    readonly method: TextExpectation | null
    readonly headers: HeaderExpectations
  }
  readonly respond: {
    readonly status: number
    readonly headers: Headers
    readonly body: string
    readonly delayMs: number
    /** Closes the connection instead of answering. */
    readonly close: boolean
  }
}

export interface TestRequest {
  readonly url: string
  readonly method: string
  /** Null: the group's first domain, else `localhost`. */
  readonly host: string | null
  readonly headers: Headers
  readonly body: string
  readonly httpVersion: '1.0' | '1.1'
}

/** Absent fields are not checked. */
export interface AnswerExpectation {
  readonly status: number | null
  readonly headers: HeaderExpectations
  readonly body: TextExpectation | null
  readonly handling: Handling | null
  /** The name of the backend; null: none was used. */
  readonly backend?: string | null
  readonly backendRequest: {
    readonly url: TextExpectation | null
    readonly headers: HeaderExpectations
  } | null
}

export type StepAction =
  | { readonly kind: 'request'; readonly request: TestRequest; readonly expect: AnswerExpectation }
  | { readonly kind: 'ban'; readonly expression: string }
  | { readonly kind: 'purge'; readonly url: URL }
  | { readonly kind: 'advance'; readonly seconds: number }
  | { readonly kind: 'health'; readonly backend: string; readonly health: 'sick' | 'healthy' }

export interface TestStep {
  /** From 1, after repetition. */
  readonly number: number
  /** Where it begins in the file. */
  readonly line: number
  readonly action: StepAction
}

export interface TestFile {
  /** Null: the name of its file. */
  readonly name: string | null
  /** Path of a VCL relative to the file; null: the caller chooses the VCL. */
  readonly vcl: string | null
  readonly backends: ReadonlyMap<string, readonly BackendRule[]>
  readonly steps: readonly TestStep[]
}

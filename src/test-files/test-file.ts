/** A test of VCL as it is run: repeated steps stand one behind the other, each with the line where it begins. */
import type { Handling } from '../resources/logged-transaction.js'

/** docs/behaviour.md, Tests of VCL. */
export const testFileLimitBytes = 64 * 1024
/** After repetition; a repeat itself does not count. */
export const stepsMost = 1_000
export const repeatMost = 1_000
export const repeatsDeepMost = 2
/** Some ten years. */
export const advanceMostSeconds = 315_360_000
/** As long as a whole file may take. */
export const delayMostMs = 30_000
export const patternLimitCharacters = 1_000

/** `matches`: a regular expression as JavaScript has it. */
export type TextExpectation =
  | { readonly kind: 'equals' | 'matches' | 'contains'; readonly text: string }
  | { readonly kind: 'absent' }

export type HeaderExpectations = readonly (readonly [name: string, expected: TextExpectation])[]
export type Headers = readonly (readonly [name: string, value: string])[]

/** How a backend answers what fits; the first rule that fits counts. */
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
    /** Closes the connection instead of an answer. */
    readonly close: boolean
  }
}

export interface TestRequest {
  readonly url: string
  readonly method: string
  /** Null: of the group's first domain, else `localhost`. */
  readonly host: string | null
  readonly headers: Headers
  readonly body: string
  readonly httpVersion: '1.0' | '1.1'
}

/** What is absent is not looked at. */
export interface AnswerExpectation {
  readonly status: number | null
  readonly headers: HeaderExpectations
  readonly body: TextExpectation | null
  readonly handling: Handling | null
  /** Its name; null: none was asked. */
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
  /** Null: it is called like its file. */
  readonly name: string | null
  /** Path of a VCL beside the file; null: whoever runs the test says which. */
  readonly vcl: string | null
  readonly backends: ReadonlyMap<string, readonly BackendRule[]>
  readonly steps: readonly TestStep[]
}

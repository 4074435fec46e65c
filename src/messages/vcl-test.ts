/** An agent runs one test file against the VCL of a group in a private cache. */
import { Type } from 'typebox'
import {
  flag,
  list,
  orAbsent,
  orNull,
  sha256,
  shortText,
  text,
  whole,
  type Fitting,
} from '../resources/json-fields.js'
import { testResult } from '../resources/vcl-test-result.js'
import { compileBudget } from '../vcl/compile-limits.js'

const maxDomains = 10_000

export const testOrder = Type.Object({
  kind: Type.Literal('test'),
  /** The digest of the flattened text with its prologue, which is fetched like any source. */
  sha: sha256,
  group: whole(1),
  /** Null: a root group, whose VCL is the whole VCL of the cache. */
  routed: orNull(Type.Object({ domains: list(text, maxDomains), purgeSecret: text })),
  /** The unparsed test file. */
  file: Type.Object({ name: shortText, text }),
  /** How long it may wait for other tests on the host, and how long it may then take. */
  waitMs: whole(0, 600_000),
  limitMs: whole(1, 600_000),
  /** Present when the organization uses an agent that it does not own. */
  budget: orAbsent(compileBudget),
  /** What the policy for organizations refuses in the text; it is then not run where a test could reach the host. Absent: nothing. */
  breach: orAbsent(text),
})
export type TestOrder = Fitting<typeof testOrder>

export const testAnswer = Type.Object({
  /** Compile errors are the compiler's output; null: the test was not run. */
  result: orNull(testResult),
  /** Why it was not run. */
  error: orNull(text),
  /** Present for a temporary error. */
  retryAfterSeconds: orAbsent(whole(1)),
  /** The test cannot be run on this agent. */
  unavailable: orAbsent(flag),
})
export type TestAnswer = Fitting<typeof testAnswer>

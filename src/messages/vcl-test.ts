/** One test file against the VCL of a group, run by an agent in a private cache. */
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

const domainsMost = 10_000

export const testOrder = Type.Object({
  kind: Type.Literal('test'),
  /** Of the flattened text with its prologue, fetched like any source. */
  sha: sha256,
  group: whole(1),
  /** Null: a root group, whose VCL is the whole VCL of the cache. */
  routed: orNull(Type.Object({ domains: list(text, domainsMost), purgeSecret: text })),
  /** As it was written. */
  file: Type.Object({ name: shortText, text }),
  /** How long it may wait for others of the host, and how long it may take then. */
  ...{ waitMs: whole(0, 600_000), limitMs: whole(1, 600_000) },
  /** Present where an organization asks on an agent that is not its own. */
  budget: orAbsent(compileBudget),
  /** What of the text the organizations' policy refuses: it is not run where a test reaches the host. Absent: nothing. */
  breach: orAbsent(text),
})
export type TestOrder = Fitting<typeof testOrder>

export const testAnswer = Type.Object({
  /** Compile errors are the compiler's own words; null: it was not run. */
  result: orNull(testResult),
  /** Why not. */
  error: orNull(text),
  /** Of an error that passes. */
  retryAfterSeconds: orAbsent(whole(1)),
  /** It cannot be run on this agent. */
  unavailable: orAbsent(flag),
})
export type TestAnswer = Fitting<typeof testAnswer>

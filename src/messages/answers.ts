/** Answers of agents, checked against the schema of their question. */
import { Type, type TSchema } from 'typebox'
import { splitJson } from '../json-parts.js'
import { describeMismatch, prepareCheck } from '../mismatch.js'
import {
  flag,
  list,
  matching,
  orAbsent,
  orNull,
  text,
  whole,
  type Fitting,
} from '../resources/json-fields.js'
import { MalformedMessage } from './codec.js'
import type { Question, QueryName } from './coordinator-to-agent.js'
import { agentJsonLimits, answerPartLimits } from './envelope.js'
import { topAnswer } from './live-log.js'
import { cutTexts } from './texts.js'
import { testAnswer } from './vcl-test.js'
import { withoutNul } from './without-nul.js'

/** One cache was seen with a hundred thousand VCLs and as many bans: only the size of the answer limits a list. */
const rowLimit = agentJsonLimits.members
/** One for each include statement that may be expanded, plus the main file. */
const partLimit = 1001
const reasonLimit = 4096

const vcl = Type.Object({
  name: text,
  /** active | available */
  status: text,
  state: text,
  /** References; null while the child process is not running. */
  busy: orNull(Type.Integer()),
  /** The VCL that a label stands for. */
  label: orNull(text),
})
export type VclRow = Fitting<typeof vcl>

/** All four fields as the cache prints them. */
const parameter = Type.Object({ value: text, default: text, unit: text, description: text })
export type Parameter = Fitting<typeof parameter>
export type ParameterSet = Readonly<Record<string, Parameter>>

const paramNow = Type.Object({
  refusal: Type.Null(),
  /** A remark of the cache, for example that a change takes effect later; mostly empty. */
  note: text,
  parameter,
})
export type ParamNow = Fitting<typeof paramNow>

/** The cache's error, unabridged, or the agent's reason in words. */
const refused = Type.Object({ refusal: text })
export type Refused = Fitting<typeof refused>

const healthNow = Type.Object({
  refusal: Type.Null(),
  /** The backends that were set, as `<VCL>.<backend>`; empty: none of the VCLs has such a backend. */
  backends: list(text, rowLimit),
})

const compiled = Type.Object({
  /** The compiler's error, unabridged, or why it was not compiled; null: it compiles. */
  error: orNull(text),
  /** It was not compiled: the budget is used up, or another compile of the organization is running. */
  retryAfterSeconds: orAbsent(whole(1)),
  /** It was not compiled: this agent cannot do that for an organization. */
  unavailable: orAbsent(flag),
})
export type CompileAnswer = Fitting<typeof compiled>

/** The VCL that a cache runs, file by file. */
const runningVcl = Type.Object({
  /** The names that the cache itself accepts (mgt_vcl.c). */
  program: matching(/^[A-Za-z][A-Za-z0-9_-]{0,232}$/, 'the name of a VCL'),
  /** In the cache's order: the main file first, without the built-in VCL. */
  parts: list(Type.Object({ file: text, text }), partLimit),
})
export type RunningVcl = Fitting<typeof runningVcl>
/** The cache keeps serving its VCL. */
export type NotAdoptable = Fitting<typeof refused>

/** By kind of question; for queries by name. */
const answers = {
  vcls: list(vcl, rowLimit),
  params: Type.Unsafe<ParameterSet>(Type.Object({}, { additionalProperties: parameter })),
  backends: list(Type.Object({ name: text }), rowLimit),
  bans: list(Type.Object({}), rowLimit),
  panic: orNull(text),
  command: text,
  setParam: Type.Union([refused, paramNow]),
  setHealth: Type.Union([refused, healthNow]),
  compile: compiled,
  showRunning: Type.Union([refused, runningVcl]),
  // Not used.
  unlock: Type.Unknown(),
  top: topAnswer,
  test: testAnswer,
}

export type AskedQuestion =
  | { readonly kind: 'query'; readonly query: QueryName }
  | { readonly kind: Exclude<Question['kind'], 'query'> }
type NameOf<Question extends AskedQuestion> = Question extends { readonly query: infer Name }
  ? Name
  : Question['kind']
export type AnswerTo<Question extends AskedQuestion> = Fitting<
  (typeof answers)[NameOf<Question> & keyof typeof answers]
>

/** Answers to queries, by name. */
export type QueryAnswers = {
  readonly [Name in QueryName]: Fitting<(typeof answers)[Name]>
}

const checks = new Map(
  Object.entries<TSchema>(answers).map(([name, schema]) => [name, prepareCheck(schema)]),
)

/** Returns the checked value with its texts truncated; unknown keys are kept. Throws MalformedMessage. */
export function judgeAnswer<Question extends AskedQuestion>(
  question: Question,
  value: unknown,
): AnswerTo<Question> {
  const name = question.kind === 'query' ? question.query : question.kind
  const mismatch = checks.get(name)?.(value)
  if (mismatch)
    throw new MalformedMessage(`the answer to ${name}: ${describeMismatch(mismatch, 'it')}`)
  return cutAnswer(name, value) as AnswerTo<Question> // its schema fits
}

/**
 * The same for a large answer as JSON text, with a pause after each part of the work. Throws MalformedMessage, JsonExcess and, when
 * the text is not JSON, SyntaxError.
 */
export function* judgeInSteps(
  question: AskedQuestion,
  json: Buffer,
): Generator<void, unknown, void> {
  const rows: unknown[] = []
  let parts = 0
  let value: unknown
  for (const text of splitJson(json, agentJsonLimits, answerPartLimits)) {
    yield
    if (text === null) continue
    const cleaned = withoutNul(text, JSON.parse(text))
    yield
    value = judgeAnswer(question, cleaned)
    if (Array.isArray(value)) for (const row of value as readonly unknown[]) rows.push(row)
    parts += 1
  }
  return parts > 1 ? rows : value
}

/** Texts that a user requested verbatim are limited only by the size of an answer. */
function cutAnswer(name: string, value: unknown): unknown {
  if (name === 'command') return value
  if (name !== 'showRunning') return cutTexts(value)
  const { refusal } = value as { readonly refusal?: string } // its schema fits
  return refusal === undefined ? value : { refusal: refusal.slice(0, reasonLimit) }
}

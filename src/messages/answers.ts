/** What agents answer, judged by what they were asked; each question has its own form. */
import {
  anything,
  flag,
  isKey,
  isRecord,
  list,
  orAbsent,
  orNull,
  record,
  text,
  whole,
  type Check,
  type Shape,
} from './checks.js'
import { splitJson } from '../json-parts.js'
import { MalformedMessage } from './codec.js'
import type {
  CompileAnswer,
  HealthAnswer,
  Instruction,
  ParamAnswer,
  Parameter,
  Query,
  QueryName,
} from './coordinator-to-agent.js'
import { agentJsonLimits, answerPartLimits } from './envelope.js'
import { parseRunningVcl } from './running-vcl.js'
import { cutTexts } from './texts.js'
import { withoutNul } from './without-nul.js'

type AnsweredKind = Exclude<Instruction['kind'], 'apply'>
export type AskedQuestion =
  Pick<Query, 'kind' | 'query'> | { readonly kind: Exclude<AnsweredKind, 'query'> }

export interface VclRow {
  readonly name: string
  /** active | available */
  readonly status: string
  readonly state: string
  /** References; null while the child does not run. */
  readonly busy: number | null
  /** The VCL that a label stands for. */
  readonly label: string | null
}

/** What `judgeAnswer` lets through, by question. */
export interface QueryAnswers {
  readonly vcls: readonly VclRow[]
  readonly params: Readonly<Record<string, Parameter>>
  readonly backends: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[]
  readonly bans: readonly Readonly<Record<string, unknown>>[]
  readonly panic: string | null
}

export interface Refused {
  /** The engine's words. */
  readonly refusal: string
}

export interface ParamNow {
  readonly refusal: null
  readonly parameter: Parameter
  /** What the cache remarks, mostly nothing. */
  readonly note: string
}

export interface HealthSet {
  readonly refusal: null
  /** As `<VCL>.<backend>`. */
  readonly backends: readonly string[]
}

/** The value in its form, its texts cut; keys that are not known here are let through. Throws MalformedMessage. */
export function judgeAnswer(question: AskedQuestion, value: unknown): unknown {
  // Texts that somebody asked for as they are: their own limit is that of an answer.
  if (question.kind === 'showRunning') return parseRunningVcl(value)
  const check = question.kind === 'query' ? queryAnswers[question.query] : answers[question.kind]
  const problem = check(value)
  if (problem !== undefined) {
    const what = question.kind === 'query' ? question.query : question.kind
    throw new MalformedMessage(`the answer to ${what}: ${problem}`)
  }
  return question.kind === 'command' ? value : cutTexts(value)
}

/**
 * The same of a large answer, which is JSON, with a pause after each part of the work. Throws MalformedMessage, JsonExcess and, when it
 * is no JSON, SyntaxError.
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
    const said = withoutNul(text, JSON.parse(text))
    yield
    value = judgeAnswer(question, said)
    if (Array.isArray(value)) for (const row of value as readonly unknown[]) rows.push(row)
    parts += 1
    requireRowLimit(question, rows.length)
  }
  return parts > 1 ? rows : value
}

function requireRowLimit(question: AskedQuestion, rows: number): void {
  if (question.kind !== 'query' || !isKey(rowLimits, question.query)) return
  const limit = rowLimits[question.query]
  if (rows > limit)
    throw new MalformedMessage(`the answer to ${question.query}: has over ${limit} members`)
}

/** More than a cache has of any of them; a hundred thousand bans were seen. */
const rowLimits = { vcls: 10_000, backends: 100_000, bans: agentJsonLimits.members }

const count: Check = (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number')

const parameter = record({
  value: text,
  default: text,
  unit: text,
  description: text,
} satisfies Shape<Parameter>)

const queryAnswers: Readonly<Record<QueryName, Check>> = {
  vcls: list(
    record({ name: text, status: text, state: text, busy: orNull(count), label: orNull(text) }),
    rowLimits.vcls,
  ),
  params: (value) => {
    if (!isRecord(value)) return 'must be an object'
    for (const [name, shown] of Object.entries(value)) {
      const problem = parameter(shown)
      if (problem !== undefined) return `${name.slice(0, 64)} ${problem}`
    }
    return undefined
  },
  backends: list(record({ name: text }), rowLimits.backends),
  bans: list(record({}), rowLimits.bans),
  panic: orNull(text),
}

const answers: Readonly<Record<Exclude<AnsweredKind, 'query' | 'showRunning'>, Check>> = {
  command: text,
  setParam: unlessRefused({
    refusal: orNull(text),
    note: text,
    parameter,
  } satisfies Shape<ParamAnswer>),
  setHealth: unlessRefused({
    refusal: orNull(text),
    backends: list(text, rowLimits.backends),
  } satisfies Shape<HealthAnswer>),
  compile: record({
    error: orNull(text),
    retryAfterSeconds: orAbsent(whole(1)),
    unavailable: orAbsent(flag),
  } satisfies Shape<CompileAnswer>),
  // Nobody looks at it.
  unlock: anything,
}

/** What was refused says nothing else. */
function unlessRefused(shape: Readonly<Record<string, Check>>): Check {
  const refused = record({ refusal: text })
  const done = record(shape)
  return (value) => (isRecord(value) && value['refusal'] !== null ? refused(value) : done(value))
}

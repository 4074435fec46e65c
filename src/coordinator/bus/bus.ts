/**
 * The bus's port: carries hints and instructions between coordinator processes, which may be of versions that follow each other. At
 * most once; values are cloned, and are what JSON can say, but for the bytes that a request or its answer may have.
 */
import { Type, type TSchema } from 'typebox'
import { FleetError } from '../../errors.js'
import { prepareGuard, type Guard } from '../../mismatch.js'
import type { Fitting } from '../../resources/json-fields.js'

/** A request or an answer with bytes, which are neither printed nor copied within a process: nobody changes them afterwards. */
interface WithBytes {
  readonly bytes: Buffer
}

export function hasBytes(value: unknown): value is WithBytes {
  return (
    typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes)
  )
}

export interface Subscription {
  close(): void
}

/** What is told on it. What does not fit is not received. */
export interface HintSubject<Value> {
  readonly name: string
  readonly isHint: Guard<Value>
}

/** What is asked on it, and how that is answered. */
export interface RequestSubject<Asked, Answer> {
  readonly name: string
  readonly isAsked: Guard<Asked>
  readonly isAnswer: Guard<Answer>
}

export interface Bus {
  /** Other processes may be at its other ends; false: this coordinator is the only one of its store. */
  readonly isShared: boolean
  publish<Value>(subject: HintSubject<Value>, value: Value): void
  subscribe<Value>(subject: HintSubject<Value>, receive: (value: Value) => void): Subscription
  /** Answers requests on a subject; one responder a subject. */
  respond<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    answer: (asked: Asked) => Promise<Answer>,
  ): Subscription
  /**
   * Rejects with FleetError 'unavailable' when nobody responds, or in a form that is not known (key 'agent'), or when the bus is
   * away (key 'store'), 'timed-out' after `timeoutMs`.
   */
  request<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    asked: Asked,
    timeoutMs: number,
  ): Promise<Answer>
  /** Rejects when the bus is not connected. */
  check(): Promise<void>
  close(): Promise<void>
}

export function hintSubject<Schema extends TSchema>(
  name: string,
  schema: Schema,
): HintSubject<Fitting<Schema>> {
  return { name, isHint: prepareGuard(schema) }
}

export function requestSubject<Asked extends TSchema, Answer extends TSchema>(
  name: string,
  asked: Asked,
  answer: Answer,
): RequestSubject<Fitting<Asked>, Fitting<Answer>> {
  return { name, isAsked: prepareGuard(asked), isAnswer: prepareGuard(answer) }
}

/** A subject for each agent: they share the schemas. */
export function ofAgent<Subject extends { readonly name: string }>(
  subject: Subject,
): (agentId: number) => Subject {
  return (agentId) => ({ ...subject, name: subject.name.replace('*', String(agentId)) })
}

/** For what only passes through: it is checked where it is received. */
export function uncheckedSubject(
  name: string,
): HintSubject<unknown> & RequestSubject<unknown, unknown> {
  return { name, isHint: isAnything, isAsked: isAnything, isAnswer: isAnything }
}

const isAnything = prepareGuard(Type.Unknown())

/** What came from another process. Throws FleetError 'unavailable'. */
export function requireFitting<Value>(fits: Guard<Value>, value: unknown): Value {
  if (fits(value)) return value
  throw new FleetError(
    'unavailable',
    'agent',
    'another coordinator speaks in a form that is not known',
  )
}

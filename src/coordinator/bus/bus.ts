/**
 * Interface of the bus, which carries hints and instructions between coordinator processes, possibly of adjacent versions. Delivery
 * is at most once; values are cloned and JSON-compatible, except the bytes that a request or its answer may have.
 */
import { Type, type TSchema } from 'typebox'
import { FleetError } from '../../errors.js'
import { prepareGuard, type Guard } from '../../mismatch.js'
import type { Fitting } from '../../resources/json-fields.js'

/** A request or an answer with bytes, which are not copied within a process and must not be changed afterwards. */
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

/** Schema of its hints. Hints that do not match are not delivered. */
export interface HintSubject<Value> {
  readonly name: string
  readonly isHint: Guard<Value>
}

/** Schemas of its requests and answers. */
export interface RequestSubject<Asked, Answer> {
  readonly name: string
  readonly isAsked: Guard<Asked>
  readonly isAnswer: Guard<Answer>
}

export interface Bus {
  /** True if other processes may be connected; false if this coordinator is the only one of its store. */
  readonly isShared: boolean
  publish<Value>(subject: HintSubject<Value>, value: Value): void
  subscribe<Value>(subject: HintSubject<Value>, receive: (value: Value) => void): Subscription
  /** Answers requests on a subject; one responder per subject. */
  respond<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    answer: (asked: Asked) => Promise<Answer>,
  ): Subscription
  /**
   * Rejects with FleetError 'unavailable' if there is no responder or a malformed answer (key 'agent'), or if the bus is
   * disconnected (key 'store'); 'timed-out' after `timeoutMs`.
   */
  request<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    asked: Asked,
    timeoutMs: number,
  ): Promise<Answer>
  /** Rejects if the bus is not connected. */
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

/** Creates a subject per agent; all share the schemas. */
export function ofAgent<Subject extends { readonly name: string }>(
  subject: Subject,
): (agentId: number) => Subject {
  return (agentId) => ({ ...subject, name: subject.name.replace('*', String(agentId)) })
}

/** For values that are only forwarded: the receiver checks them. */
export function uncheckedSubject(
  name: string,
): HintSubject<unknown> & RequestSubject<unknown, unknown> {
  return { name, isHint: isAnything, isAsked: isAnything, isAnswer: isAnything }
}

const isAnything = prepareGuard(Type.Unknown())

/** Checks a value from another process. Throws FleetError 'unavailable'. */
export function requireFitting<Value>(fits: Guard<Value>, value: unknown): Value {
  if (fits(value)) return value
  throw new FleetError(
    'unavailable',
    'agent',
    'another coordinator speaks in a form that is not known',
  )
}

/** The live log of a cache: who reads it, and what the agent tells. */
import { Type } from 'typebox'
import {
  finite,
  flag,
  list,
  orAbsent,
  orNull,
  shortText,
  text,
  whole,
  type Fitting,
} from '../resources/json-fields.js'
import { handlings, topKinds } from '../resources/logged-transaction.js'
import { logTextLimitCharacters } from '../traffic/log-line.js'
import { envelope } from './envelope.js'

export const wantedLog = Type.Object({
  /** As the cache's tool takes it; null: all transactions. */
  query: orNull(text),
  /** One of so many transactions. */
  sample: Type.Enum([1, 10, 100, 1000]),
  linesPerSecond: whole(1, 1_000),
  /** Only of these; null: of all, and what is of none. */
  groups: orNull(list(whole(1), 10_000)),
  /** As it is configured; null: all. */
  domain: orNull(text),
  masksClients: flag,
  /** All records of each transaction, too. */
  withRecords: flag,
})
export type WantedLog = Fitting<typeof wantedLog>

/** Count what is most frequent for so long. */
export const topQuestion = Type.Object({
  kind: Type.Literal('top'),
  by: Type.Enum(topKinds),
  seconds: whole(1, 300),
  most: whole(1, 1_000),
  wanted: wantedLog,
})
export type TopQuestion = Fitting<typeof topQuestion>

/** Bytes of `bytes`, requests of all others. */
export const topAnswer = Type.Object({
  total: finite,
  top: list(Type.Object({ key: text, count: finite, error: finite }), 1_000),
})
export type TopAnswer = Fitting<typeof topAnswer>

/** A reader of the live log: send it what it wants for so long. Renewed before that is over; 0 ends it. */
export const logOrder = Type.Object({
  ...envelope('log'),
  stream: shortText,
  forMs: whole(0, 600_000),
  wanted: wantedLog,
})
export type LogOrder = Fitting<typeof logOrder>

/** What clients send is cut where it is read. */
const logText = Type.Refine(
  text,
  ({ length }) => length <= logTextLimitCharacters,
  () => `must be a text of at most ${logTextLimitCharacters} characters`,
)
const loggedPart = Type.Object({
  kind: Type.Enum(['request', 'fetch']),
  xid: whole(0),
  parentXid: whole(0),
  reason: logText,
  records: list(Type.Object({ tag: shortText, text: logText }), 1_000),
})

/** A request that the cache answered, as its log tells it; what is secret was masked on the host. */
export const loggedTransaction = Type.Object({
  at: whole(0),
  method: logText,
  url: logText,
  host: logText,
  status: whole(0, 999_999),
  bytes: whole(0),
  ttfbMs: orNull(finite),
  durationMs: orNull(finite),
  handling: Type.Enum(handlings),
  backend: logText,
  xid: whole(0),
  client: logText,
  groupId: orNull(whole(1)),
  /** Present when they are wanted: those of the request, then of what was done for it. */
  parts: orAbsent(list(loggedPart, 1_000)),
  /** Records beyond the bound of one request. */
  recordsLeftOut: orAbsent(whole(0)),
})

export type LoggedTransaction = Fitting<typeof loggedTransaction>

/** What a live log stream read. */
export const logLines = Type.Object({
  ...envelope('logLines'),
  stream: shortText,
  transactions: list(loggedTransaction, 1_000),
  /** Over the stream's limit, or not whole. */
  dropped: whole(0),
})
export type LogLines = Fitting<typeof logLines>

/** The agent cannot go on: there is no tool, or no right to the log, or it does not take the query. */
export const logEnded = Type.Object({
  ...envelope('logEnded'),
  stream: shortText,
  reason: shortText,
})
export type LogEnded = Fitting<typeof logEnded>

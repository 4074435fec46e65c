/** The live log of a cache: the orders of readers and the agent's messages. */
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
  /** In the syntax of the cache's log tool; null: all transactions. */
  query: orNull(text),
  /** One of this many transactions is sent. */
  sample: Type.Enum([1, 10, 100, 1000]),
  linesPerSecond: whole(1, 1_000),
  /** Only requests of these groups; null: all, including those of no group. */
  groups: orNull(list(whole(1), 10_000)),
  /** As configured; null: all. */
  domain: orNull(text),
  masksClients: flag,
  /** Also sends all records of each transaction. */
  withRecords: flag,
})
export type WantedLog = Fitting<typeof wantedLog>

/** Counts the most frequent keys for `seconds`. */
export const topQuestion = Type.Object({
  kind: Type.Literal('top'),
  by: Type.Enum(topKinds),
  seconds: whole(1, 300),
  most: whole(1, 1_000),
  wanted: wantedLog,
})
export type TopQuestion = Fitting<typeof topQuestion>

/** Counts bytes for the kind `bytes`, requests for all others. */
export const topAnswer = Type.Object({
  total: finite,
  top: list(Type.Object({ key: text, count: finite, error: finite }), 1_000),
})
export type TopAnswer = Fitting<typeof topAnswer>

/** A live log stream for `forMs`. Renewed before it expires; 0 ends it. */
export const logOrder = Type.Object({
  ...envelope('log'),
  stream: shortText,
  forMs: whole(0, 600_000),
  wanted: wantedLog,
})
export type LogOrder = Fitting<typeof logOrder>

/** The agent truncates client data when it reads the log. */
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

/** A request that the cache answered, from its log; secrets were masked on the host. */
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
  /** Present with `withRecords`: the parts of the request, then of its fetches and subrequests. */
  parts: orAbsent(list(loggedPart, 1_000)),
  /** Records beyond the limit of one request. */
  recordsLeftOut: orAbsent(whole(0)),
})

export type LoggedTransaction = Fitting<typeof loggedTransaction>

/** Transactions of a live log stream. */
export const logLines = Type.Object({
  ...envelope('logLines'),
  stream: shortText,
  transactions: list(loggedTransaction, 1_000),
  /** Transactions over the stream's limit, or incomplete ones. */
  dropped: whole(0),
})
export type LogLines = Fitting<typeof logLines>

/** The agent cannot continue: there is no log tool, no permission to read the log, or the tool rejects the query. */
export const logEnded = Type.Object({
  ...envelope('logEnded'),
  stream: shortText,
  reason: shortText,
})
export type LogEnded = Fitting<typeof logEnded>

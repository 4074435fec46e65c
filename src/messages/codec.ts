/**
 * Messages to JSON text and back. What arrives is checked field by field against one table a kind; keys that the
 * table does not have are let through, so that a peer one minor version newer is understood (choices: 4, Skew).
 */
import type { EngineState } from '../resources/agent-state.js'
import type { CompileBudget } from '../vcl/compile-limits.js'
import type { DesiredEngine, DesiredLabel, DesiredProgram } from '../vcl/desired-engine.js'
import type { BackendHealth, DesiredHealth, DesiredParam } from '../vcl/engine-settings.js'
import { findAgentNameProblem, findNameProblem, linkedAgentNameLimit } from '../resources/names.js'
import type {
  AgentDescription,
  AgentToCoordinator,
  Answer,
  ApplyReport,
  Drift,
  DriftReport,
  EngineCondition,
  EngineDescription,
  FullState,
  Heartbeat,
  Hello,
  Invalidated,
  InvalidationResult,
  ProgramFailure,
  Samples,
} from './agent-to-coordinator.js'
import type {
  Apply,
  CoordinatorToAgent,
  Compile,
  EngineCommand,
  BanOrder,
  Invalidate,
  InvalidationOrder,
  PurgeOrder,
  PurgeRequest,
  Query,
  QueryName,
  ReportFullState,
  SetHealth,
  SetParam,
  ShowRunning,
  Unlock,
  Watch,
  Welcome,
} from './coordinator-to-agent.js'
import {
  anything,
  finite,
  flag,
  isKey,
  isRecord,
  list,
  matching,
  named,
  oneOf,
  orAbsent,
  orNull,
  record,
  text,
  whole,
  type Check,
  type Shape,
} from './checks.js'
import { messageLimitBytes, type Envelope } from './envelope.js'
import { heldCache } from './held-check.js'
import { cutTexts, textLimitBytes } from './texts.js'
import { withoutNul } from './without-nul.js'

/** The text is no message of this link: no JSON, an unknown kind, a field of the wrong type, or over the limit. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'

  constructor(
    message: string,
    /** Set when everything but the kind may be right: a newer peer may say what is not known here. */
    readonly unknownKind: string | null = null,
  ) {
    super(message)
  }
}

/** Throws MalformedMessage when the text is over `messageLimitBytes`: such an answer goes by PUT. */
export function encodeMessage(message: AgentToCoordinator | CoordinatorToAgent): string {
  const text = JSON.stringify(message)
  requireFittingText(text, message.kind)
  return text
}

/** With `furtherBytes` around it. Throws MalformedMessage. */
export function requireFittingText(text: string, kind: string, furtherBytes = 0): void {
  // A UTF-16 unit is at most 3 bytes of UTF-8: counting them is only needed near the limit.
  if (text.length * 3 + furtherBytes <= messageLimitBytes) return
  const bytes = Buffer.byteLength(text) + furtherBytes
  if (bytes > messageLimitBytes)
    throw new MalformedMessage(
      `a message of kind ${kind} is ${bytes} bytes, at most ${messageLimitBytes}`,
    )
}

/** Its texts are cut; the value of an answer is for `judgeAnswer`, which knows what was asked. */
export function decodeAgentMessage(text: string): AgentToCoordinator {
  const message = decode<AgentToCoordinator>(text, agentMessages)
  if (text.length <= textLimitBytes / 3) return message
  const kept = message.kind === 'answer' ? { value: message.value } : {}
  return { ...(cutTexts({ ...message, value: null }) as AgentToCoordinator), ...kept } // of the same form
}

export function decodeCoordinatorMessage(text: string): CoordinatorToAgent {
  return decode<CoordinatorToAgent>(text, coordinatorMessages)
}

function decode<Message extends Envelope>(text: string, checks: Kinds<Message>): Message {
  if (text.length > messageLimitBytes)
    throw new MalformedMessage(`a message is over ${messageLimitBytes} bytes`)
  const value = parse(text)
  if (!isRecord(value)) throw new MalformedMessage('a message is a JSON object')
  const { kind } = value
  if (typeof kind !== 'string') throw new MalformedMessage('a message has a kind, a text')
  if (!isKey(checks, kind)) {
    const shown = kind.slice(0, 64)
    throw new MalformedMessage(`messages of kind ${JSON.stringify(shown)} are not known`, shown)
  }
  const problem = checks[kind](value)
  if (problem !== undefined) throw new MalformedMessage(`${kind}: ${problem}`)
  // Names that hold it were refused.
  return withoutNul(text, value) as Message // the table of its kind has a check for every field
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedMessage('a message is not JSON')
  }
}

type Kinds<Message extends Envelope> = Readonly<Record<Message['kind'], Check>>

/** Chosen by us: short texts that are kept in a row an agent. */
const shortText: Check = (value) =>
  typeof value === 'string' && value.length <= 1024
    ? undefined
    : 'must be a text of at most 1024 characters'

const sha256 = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hex')

/** Chosen by us: a cache holds at most some hundred VCLs of ours, an agent bears a handful of tags. */
const programLimit = 10_000
const tagLimit = 256
const settingLimit = 10_000
/** Chosen by us: more than an agent is ever sent ahead, and than an entry has members. */
const entryLimit = 1_000
/** A cache has about 400 counters, and some for each backend. */
const counterLimit = 2_000

const envelope: Shape<Envelope> = {
  kind: text,
  sequence: whole(1),
  traceId: matching(/^[A-Za-z0-9_-]{8,64}$/, '8 to 64 of letters, digits, dash and underscore'),
}

const condition = record({
  engineState: oneOf(['running', 'stopped', 'unreachable', 'unknown'] satisfies EngineState[]),
  engineError: orNull(text),
  heldRevision: whole(0),
  effectiveRevision: whole(0),
  lockedBecause: orNull(text),
  cachePid: orAbsent(orNull(whole(0))),
} satisfies Shape<EngineCondition>)

const description: Shape<AgentDescription> = {
  name: named((name) => findAgentNameProblem(name, linkedAgentNameLimit)),
  agentVersion: matching(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][\w.+-]{1,64})?$/, 'a version'),
  // A newer agent may have more than are known here; only the known ones are kept.
  capabilities: list(matching(/^[A-Za-z-]{1,32}$/, 'a word'), 32),
  tags: list(named(findNameProblem), tagLimit),
  coordinatorId: orNull(shortText),
  keyDigest: sha256,
  adoption: orAbsent(oneOf(['waiting', 'ready'])),
  adoptGroup: orAbsent(named(findNameProblem)),
  held: orAbsent(heldCache),
  hostName: orAbsent(shortText),
  engine: record({
    host: shortText,
    port: whole(0, 65_535),
    version: shortText,
    revision: orAbsent(shortText),
    workingDirectory: orNull(shortText),
  } satisfies Shape<EngineDescription>),
  condition,
}

const drift = record({
  at: shortText,
  foreign: list(text, programLimit),
  action: text,
  healedAt: orNull(shortText),
} satisfies Shape<Drift>)

const programFailures = list(
  record({ program: text, error: text } satisfies Shape<ProgramFailure>),
  programLimit,
)

const agentMessages: Kinds<AgentToCoordinator> = {
  hello: record({ ...envelope, ...description } satisfies Shape<Hello>),
  fullState: record({ ...envelope, ...description } satisfies Shape<FullState>),
  heartbeat: record({ ...envelope, condition } satisfies Shape<Heartbeat>),
  applyReport: record({
    ...envelope,
    instruction: whole(1),
    revision: whole(0),
    result: oneOf(['applied', 'failed', 'refused'] satisfies ApplyReport['result'][]),
    error: orNull(text),
    loaded: list(text, programLimit),
    failures: programFailures,
    interrupted: orAbsent(flag),
    postponed: orAbsent(programFailures),
    changed: flag,
    serving: orAbsent(list(text, programLimit)),
  } satisfies Shape<ApplyReport>),
  answer: record({
    ...envelope,
    instruction: whole(1),
    result: oneOf(['done', 'failed', 'refused'] satisfies Answer['result'][]),
    value: anything,
    sentByPut: flag,
    error: orNull(text),
  } satisfies Shape<Answer>),
  drift: record({ ...envelope, drift } satisfies Shape<DriftReport>),
  invalidated: record({
    ...envelope,
    results: list(
      record({
        position: whole(1),
        result: oneOf(['done', 'failed'] satisfies InvalidationResult['result'][]),
        error: orNull(shortText),
      } satisfies Shape<InvalidationResult>),
      entryLimit,
    ),
    trouble: orNull(shortText),
  } satisfies Shape<Invalidated>),
  samples: record({
    ...envelope,
    at: whole(0),
    live: flag,
    names: orAbsent(list(shortText, counterLimit)),
    values: list(orNull(finite), counterLimit),
  } satisfies Shape<Samples>),
}

const backendHealth = oneOf(['healthy', 'sick', 'auto'] satisfies BackendHealth[])
const groupIds = orNull(list(whole(1), programLimit))

const budget = record({ organization: whole(1) } satisfies Shape<CompileBudget>)

const desired = record({
  load: list(
    record({ name: text, sha: sha256, budget: orAbsent(budget) } satisfies Shape<DesiredProgram>),
    programLimit,
  ),
  labels: list(record({ label: text, program: text } satisfies Shape<DesiredLabel>), programLimit),
  active: text,
  // A coordinator of an earlier version sends none of these.
  tenancy: orAbsent(text),
  params: orAbsent(
    list(record({ name: text, value: text } satisfies Shape<DesiredParam>), settingLimit),
  ),
  health: orAbsent(
    list(
      record({
        backend: text,
        health: backendHealth,
        groups: groupIds,
      } satisfies Shape<DesiredHealth>),
      settingLimit,
    ),
  ),
} satisfies Shape<DesiredEngine>)

const term: Check = (value) =>
  Array.isArray(value) && value.length === 3 && value.every((word) => typeof word === 'string')
    ? undefined
    : 'must be three texts'
const texts: Check = (value) =>
  isRecord(value) && Object.values(value).every((one) => typeof one === 'string')
    ? undefined
    : 'must be an object of texts'

const order = record({
  position: whole(1),
  ageMs: whole(0),
  ban: orNull(
    record({
      expressions: list(list(term, entryLimit), entryLimit),
      groups: groupIds,
    } satisfies Shape<BanOrder>),
  ),
  purge: orNull(
    record({
      method: text,
      headers: texts,
      requests: list(
        record({ host: text, path: text, secret: orNull(text) } satisfies Shape<PurgeRequest>),
        entryLimit,
      ),
    } satisfies Shape<PurgeOrder>),
  ),
} satisfies Shape<InvalidationOrder>)

const coordinatorMessages: Kinds<CoordinatorToAgent> = {
  welcome: record({
    ...envelope,
    agentId: whole(1),
    coordinatorId: shortText,
    heartbeatMs: whole(1),
    statsIntervalMs: orAbsent(whole(1)),
    revision: whole(0),
  } satisfies Shape<Welcome>),
  apply: record({ ...envelope, revision: whole(0), desired } satisfies Shape<Apply>),
  query: record({
    ...envelope,
    query: oneOf(['vcls', 'params', 'backends', 'bans', 'panic'] satisfies QueryName[]),
  } satisfies Shape<Query>),
  command: record({ ...envelope, line: text } satisfies Shape<EngineCommand>),
  setParam: record({ ...envelope, name: text, value: orNull(text) } satisfies Shape<SetParam>),
  setHealth: record({
    ...envelope,
    backend: text,
    groups: groupIds,
    health: backendHealth,
  } satisfies Shape<SetHealth>),
  compile: record({
    ...envelope,
    sha: sha256,
    init: orAbsent(flag),
    budget: orAbsent(budget),
  } satisfies Shape<Compile>),
  showRunning: record({ ...envelope } satisfies Shape<ShowRunning>),
  reportFullState: record({ ...envelope } satisfies Shape<ReportFullState>),
  invalidate: record({
    ...envelope,
    after: whole(0),
    isRestart: flag,
    entries: list(order, entryLimit),
  } satisfies Shape<Invalidate>),
  unlock: record({ ...envelope } satisfies Shape<Unlock>),
  watch: record({ ...envelope, forMs: whole(0, 600_000) } satisfies Shape<Watch>),
}

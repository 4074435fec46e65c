/** Runs one step of a test and checks the response and the cache's log. */
import { toHandling } from '../traffic/log-line.js'
import { findAnswered, toLogLine } from '../traffic/log-records.js'
import type { RecordGroup } from '../traffic/record-groups.js'
import { purgeHeader } from '../vcl/prologue.js'
import { judgeAnswer } from './judge-answer.js'
import type { Origin } from './origin.js'
import { sendRequest, type Answer, type SentRequest } from './send-request.js'
import type { StepAction } from '../test-files/test-file.js'
import type { TestClock } from './test-clock.js'
import type { TestedCache } from './tested-cache.js'
import type { TestedVcl } from './tested-vcl.js'
import type { TransactionLog } from './transaction-log.js'

export interface TestBench {
  readonly cache: TestedCache
  readonly origin: Origin
  readonly log: TransactionLog
  readonly clock: TestClock
  readonly vcl: TestedVcl
  readonly backends: ReadonlySet<string>
  readonly signal: AbortSignal
}

interface StepOutcome {
  readonly problems: readonly string[]
  readonly log: readonly string[]
}

const linesShown = 200

/** Rejects with the error of the cache or of the connection to it. */
export async function runStep(bench: TestBench, action: StepAction): Promise<StepOutcome> {
  const { cache, clock, backends } = bench
  switch (action.kind) {
    case 'request':
      return runRequest(bench, action)
    case 'ban':
      await cache.ban(action.expression)
      return passed
    case 'purge':
      return runPurge(bench, action.url)
    case 'advance':
      await clock.advance(action.seconds)
      return passed
    case 'health': {
      if (!backends.has(action.backend))
        return { problems: [describeStranger(action.backend, backends)], log: [] }
      await cache.setHealth(action.backend, action.health)
      return passed
    }
  }
}

const passed: StepOutcome = { problems: [], log: [] }

export function describeStranger(name: string, backends: ReadonlySet<string>): string {
  const known = [...backends].join(', ')
  const right = known === '' ? 'the VCL has none' : `the VCL has ${known}`
  return `backend ${JSON.stringify(name)} is not one of the VCL: ${right}`
}

async function runRequest(
  bench: TestBench,
  { request, expect }: Extract<StepAction, { kind: 'request' }>,
): Promise<StepOutcome> {
  const { origin } = bench
  origin.forget()
  const sent = { ...request, host: request.host ?? findHost(bench.vcl) }
  const { answer, group } = await send(bench, sent)
  const answered = findAnswered(group)
  if (answered === null) throw new Error('the cache logged no request')
  const line = toLogLine(answered, group.parts)
  const backend = line.backend === '-' ? null : line.backend.slice(line.backend.indexOf('.') + 1)
  const problems = judgeAnswer(expect, {
    ...answer,
    handling: toHandling(line.handling),
    backend,
    backendRequest: origin.last,
  })
  return { problems, log: problems.length === 0 ? [] : printLog(group) }
}

/** The first domain that is not a wildcard. */
function findHost({ routed }: TestedVcl): string {
  const name = routed?.domains.find((domain) => !domain.startsWith('*'))
  return name ?? routed?.domains[0]?.replace('*', 'www') ?? 'localhost'
}

async function send(
  { cache, log, signal }: TestBench,
  request: SentRequest,
): Promise<{ readonly answer: Answer; readonly group: RecordGroup }> {
  const answer = await sendRequest(cache.port, request, signal)
  return { answer, group: await log.find(answer.clientPort, signal) }
}

/** Purges as an agent does: a group with domains by its secret; other VCL handles the method itself. */
async function runPurge(bench: TestBench, { host, pathname, search }: URL): Promise<StepOutcome> {
  const { routed } = bench.vcl
  const { answer, group } = await send(bench, {
    method: 'PURGE',
    url: `${pathname}${search}`,
    host,
    body: '',
    httpVersion: '1.1',
    headers: routed === null ? [] : [[purgeHeader, routed.purgeSecret]],
  })
  if (answer.status >= 200 && answer.status < 300) return passed
  const problem = `expected PURGE to be answered 200, got ${answer.status}`
  return { problems: [problem], log: printLog(group) }
}

/** Without the internal headers of the prologue. */
function printLog({ parts, leftOut }: RecordGroup): readonly string[] {
  const lines = parts.flatMap(({ kind, xid, reason, records }) => [
    `${kind} ${xid} ${reason}`,
    ...records
      .filter(({ tag, text }) => tag !== 'Begin' && !/^X-Cachefleet-/i.test(text))
      .map(({ tag, text }) => `  ${tag.padEnd(14)} ${text}`),
  ])
  const hidden = Math.max(0, lines.length - linesShown) + leftOut
  return [...lines.slice(0, linesShown), ...(hidden > 0 ? [`(and ${hidden} more)`] : [])]
}

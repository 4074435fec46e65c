/**
 * What the coordinator is told of its own accord: reports, answers, drift, and each change of what it was told last.
 *
 * There is no queue: of what was said when nobody listened the newest report and the newest drift are said after the next
 * welcome, all else is in hello.
 */
import { createContext, newTraceId, type Context } from '../../context.js'
import type {
  AgentDescription,
  Answer,
  ApplyReport,
  Drift,
  EngineCondition,
  ProgramFailure,
} from '../../messages/agent-to-coordinator.js'
import { answerLimitBytes, answerPartLimits, messageLimitBytes } from '../../messages/envelope.js'
import type { Logger } from 'pino'
import { putAnswer, type Caller } from './coordinator-http.js'
import type { CoordinatorLink, Unsent } from './coordinator-link.js'
import { printAnswer, sizeOf } from './print-answer.js'
import type { ApplyResult } from '../apply/reconciler.js'

interface ReportsOptions {
  readonly link: CoordinatorLink
  readonly caller: () => Caller
  readonly describe: () => AgentDescription
  readonly condition: () => EngineCondition
  readonly log: Logger
}

/** Room for what is around the value in a message. */
const answerOverheadBytes = 4_096
/** In characters: none of them takes more than six bytes of JSON. */
const reportedWordsLimit = 150_000

export class CoordinatorReports {
  readonly #options: ReportsOptions
  /** Of what is described that which may change while the link lives, but for the condition. */
  #toldDescription = ''
  #told: EngineCondition | null = null
  /** How the newest apply ended; what healing makes of it is told only when that differs. */
  #toldResult: Pick<ApplyReport, 'result' | 'error' | 'serving'> | null = null
  #unsaidReport: Unsent<ApplyReport> | null = null
  #unsaidDrift: Drift | null = null

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** What a hello or a full state says counts as told. */
  describe(): AgentDescription {
    const description = this.#options.describe()
    this.#toldDescription = printChangeable(description)
    this.#told = description.condition
    return description
  }

  reportApply(report: Unsent<ApplyReport>): void {
    const { failures, postponed } = report
    const bounded = {
      ...report,
      failures: limitWords(failures),
      ...(postponed && { postponed: limitWords(postponed) }),
    }
    this.#toldResult = { result: report.result, error: report.error, serving: report.serving }
    const isSaid = this.#options.link.send(bounded)
    this.#unsaidReport = isSaid ? null : bounded
    if (isSaid && report.result === 'applied') this.#noteApplied(report.revision)
    this.tellChanges()
  }

  async answer(answer: Unsent<Answer>, context: Context): Promise<void> {
    const { link, caller } = this.#options
    const json = await printAnswer(answer.value)
    const sizeBytes = sizeOf(json)
    if (sizeBytes + answerOverheadBytes <= messageLimitBytes) {
      link.send(answer)
      return
    }
    const limitBytes = json.length > 1 ? answerLimitBytes : answerPartLimits.bytes
    if (sizeBytes > limitBytes) {
      const error = `the answer has ${sizeBytes} bytes, at most ${limitBytes} are sent`
      link.send({ ...answer, value: null, result: 'failed', error })
      return
    }
    try {
      await putAnswer(caller(), { instruction: answer.instruction, json })
      link.send({ ...answer, value: null, sentByPut: true })
    } catch (error) {
      context.log.warn({ err: error }, 'a large answer could not be sent')
      const reason = 'the answer is over 1 MiB and could not be sent by PUT'
      link.send({ ...answer, value: null, result: 'failed', error: reason })
    }
  }

  reportDrift(drift: Drift, context: Context): void {
    context.log.warn(drift, 'the cache was changed by somebody else')
    const message = { kind: 'drift', traceId: context.traceId, drift } as const
    this.#unsaidDrift = this.#options.link.send(message) ? null : drift
  }

  /** Chosen by us: healing that ends otherwise than the last apply is a report of its own, to the welcome (1). */
  reportHealing(result: ApplyResult, context: Context): void {
    if (result.result === 'refused') return
    // What a satisfied cache refuses is worth telling, whatever a failing one says in other words each time is not.
    const told = this.#toldResult
    const isNews = result.result === 'applied' && result.error !== told?.error
    const isSame = result.result === told?.result && String(result.serving) === String(told.serving)
    if (isSame && !isNews) return
    const { result: how, error, loaded, failures, changed, serving } = result
    const { interrupted, postponed } = result
    const { heldRevision: revision } = this.#options.condition()
    this.reportApply({
      ...{ kind: 'applyReport', traceId: context.traceId, instruction: 1, revision },
      ...{ result: how, error, loaded, failures, changed, serving },
      ...(interrupted && { interrupted, postponed }),
    })
  }

  /** After a welcome. */
  tellUnsaid(): void {
    const { link } = this.#options
    const [report, drift] = [this.#unsaidReport, this.#unsaidDrift]
    if (report && link.send({ ...report, instruction: 1 })) this.#unsaidReport = null
    if (drift && link.send({ kind: 'drift', traceId: newTraceId(), drift }))
      this.#unsaidDrift = null
    this.tellChanges()
  }

  /** What changed since it was last told does not wait for the next heartbeat. */
  tellChanges(): void {
    const { link, log } = this.#options
    if (!link.isLive) return
    const description = this.#options.describe()
    const { condition } = description
    if (printChangeable(description) !== this.#toldDescription) {
      const { traceId } = createContext(log)
      link.send({ kind: 'fullState', traceId, ...this.describe() })
      return
    }
    if (JSON.stringify(condition) === JSON.stringify(this.#told)) return
    this.#told = condition
    link.sendCondition()
  }

  /** What the coordinator concludes from the report needs no heartbeat of its own (gateway/agent-session.ts). */
  #noteApplied(revision: number): void {
    if (this.#told)
      this.#told = { ...this.#told, heldRevision: revision, effectiveRevision: revision }
  }
}

function printChangeable({ engine, adoption, held }: AgentDescription): string {
  return JSON.stringify([engine, adoption, held])
}

/** A report must fit into a message, whatever the compiler had to say about however many VCLs. */
function limitWords(failures: readonly ProgramFailure[]): readonly ProgramFailure[] {
  const share = Math.floor(reportedWordsLimit / Math.max(1, failures.length))
  return failures.map(({ program, error }) => ({ program, error: error.slice(0, share) }))
}

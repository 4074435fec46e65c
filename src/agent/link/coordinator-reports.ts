/**
 * What the agent sends unasked: reports, answers, drift, and every change of what it sent last.
 *
 * There is no queue: of what could not be sent, the newest report and the newest drift are sent after the next
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
import type { ApplyResult } from '../apply/apply-result.js'

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
  #sentDescription = ''
  #sentCondition: EngineCondition | null = null
  /** How the newest apply ended; healing is reported only when its result differs. */
  #sentResult: Pick<ApplyReport, 'result' | 'error' | 'serving' | 'certificates'> | null = null
  #unsentReport: Unsent<ApplyReport> | null = null
  #unsentDrift: Drift | null = null

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** What a hello or a full state contains counts as sent. */
  describe(): AgentDescription {
    const description = this.#options.describe()
    this.#sentDescription = printChangeable(description)
    this.#sentCondition = description.condition
    return description
  }

  reportApply(report: Unsent<ApplyReport>): void {
    const { failures, postponed } = report
    const bounded = {
      ...report,
      failures: limitWords(failures),
      ...(postponed && { postponed: limitWords(postponed) }),
    }
    const { result, error, serving, certificates } = report
    this.#sentResult = { result, error, serving, certificates }
    const isSent = this.#options.link.send(bounded)
    this.#unsentReport = isSent ? null : bounded
    if (isSent && report.result === 'applied') this.#noteApplied(report.revision)
    this.reportChanges()
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
    this.#unsentDrift = this.#options.link.send(message) ? null : drift
  }

  /** Healing that ends differently from the last apply is reported separately, as an answer to the welcome (1). */
  reportHealing(result: ApplyResult, context: Context): void {
    if (result.result === 'refused') return
    // A new refusal of a satisfied cache is worth a report; a failing one's ever-changing messages are not.
    const sent = this.#sentResult
    const isNews = result.result === 'applied' && result.error !== sent?.error
    const isSame =
      result.result === sent?.result &&
      String(result.serving) === String(sent.serving) &&
      JSON.stringify(result.certificates) === JSON.stringify(sent.certificates)
    if (isSame && !isNews) return
    const { result: how, error, loaded, failures, changed, serving, certificates } = result
    const { interrupted, postponed } = result
    const { heldRevision: revision } = this.#options.condition()
    this.reportApply({
      kind: 'applyReport',
      traceId: context.traceId,
      instruction: 1,
      revision,
      result: how,
      error,
      loaded,
      failures,
      changed,
      serving,
      certificates,
      ...(interrupted && { interrupted, postponed }),
    })
  }

  /** After a welcome. */
  sendUnsent(): void {
    const { link } = this.#options
    const [report, drift] = [this.#unsentReport, this.#unsentDrift]
    if (report && link.send({ ...report, instruction: 1 })) this.#unsentReport = null
    if (drift && link.send({ kind: 'drift', traceId: newTraceId(), drift }))
      this.#unsentDrift = null
    this.reportChanges()
  }

  sendFullState(traceId: string): void {
    this.#options.link.send({ kind: 'fullState', traceId, ...this.describe() })
  }

  /** Changes are sent at once and do not wait for the next heartbeat. */
  reportChanges(): void {
    const { link, log } = this.#options
    if (!link.isLive) return
    const description = this.#options.describe()
    const { condition } = description
    if (printChangeable(description) !== this.#sentDescription) {
      this.sendFullState(createContext(log).traceId)
      return
    }
    if (JSON.stringify(condition) === JSON.stringify(this.#sentCondition)) return
    this.#sentCondition = condition
    link.sendCondition()
  }

  /** What the coordinator concludes from the report needs no heartbeat of its own (gateway/agent-session.ts). */
  #noteApplied(revision: number): void {
    if (this.#sentCondition)
      this.#sentCondition = {
        ...this.#sentCondition,
        heldRevision: revision,
        effectiveRevision: revision,
      }
  }
}

function printChangeable(description: AgentDescription): string {
  const { engine, adoption, held, capabilities, logTrouble } = description
  return JSON.stringify([engine, adoption, held, capabilities, logTrouble])
}

/** A report must fit into a message, whatever the compiler had to say about however many VCLs. */
function limitWords(failures: readonly ProgramFailure[]): readonly ProgramFailure[] {
  const share = Math.floor(reportedWordsLimit / Math.max(1, failures.length))
  return failures.map(({ program, error }) => ({ program, error: error.slice(0, share) }))
}

/**
 * What the agent sends on its own: reports, answers, drift, and every change of what it sent last.
 *
 * There is no queue: after the next welcome only the newest unsent report and the newest unsent drift are sent; hello
 * contains everything else.
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
import type { Changeable } from '../describe-agent.js'

interface ReportsOptions {
  readonly link: CoordinatorLink
  readonly caller: () => Caller
  readonly describe: () => AgentDescription
  readonly describeChangeable: () => Changeable
  readonly condition: () => EngineCondition
  readonly log: Logger
}

/** Room for the other fields of a message. */
const answerOverheadBytes = 4_096
/** In characters: each takes at most six bytes of JSON. */
const reportedWordsLimit = 150_000

export class CoordinatorReports {
  readonly #options: ReportsOptions
  /** The part of the description, without the condition, that may change while the link is open. */
  #sentDescription = ''
  #sentCondition: EngineCondition | null = null
  /** Result of the newest apply; healing is reported only when its result differs. */
  #sentResult: Pick<ApplyReport, 'result' | 'error' | 'serving' | 'certificates'> | null = null
  #unsentReport: Unsent<ApplyReport> | null = null
  #unsentDrift: Drift | null = null

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** Records the content of a hello or a full state as sent. */
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

  /** Healing with a result other than the last apply's is reported separately, as an answer to the welcome (1). */
  reportHealing(result: ApplyResult, context: Context): void {
    if (result.result === 'refused') return
    // A new refusal by a satisfied cache is worth a report; the ever-changing messages of a failing one are not.
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

  /** Called after a welcome. */
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
    const description = this.#options.describeChangeable()
    const { condition } = description
    if (printChangeable(description) !== this.#sentDescription) {
      this.sendFullState(createContext(log).traceId)
      return
    }
    if (JSON.stringify(condition) === JSON.stringify(this.#sentCondition)) return
    this.#sentCondition = condition
    link.sendCondition()
  }

  /** The coordinator derives this part of the condition from the report, so no heartbeat is needed (gateway/agent-session.ts). */
  #noteApplied(revision: number): void {
    if (this.#sentCondition)
      this.#sentCondition = {
        ...this.#sentCondition,
        heldRevision: revision,
        effectiveRevision: revision,
      }
  }
}

function printChangeable(description: Changeable): string {
  const { engine, adoption, held, capabilities, logTrouble } = description
  return JSON.stringify([engine, adoption, held, capabilities, logTrouble])
}

/** Shortens messages so that a report fits into a message, whatever the compiler printed for however many VCLs. */
function limitWords(failures: readonly ProgramFailure[]): readonly ProgramFailure[] {
  const share = Math.floor(reportedWordsLimit / Math.max(1, failures.length))
  return failures.map(({ program, error }) => ({ program, error: error.slice(0, share) }))
}

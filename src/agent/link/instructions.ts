/**
 * The instructions of a coordinator: one table defines which capability each kind needs and refuses what this agent does not
 * declare. Every instruction ends in exactly one report, even if its handler fails.
 */
import type { Context } from '../../context.js'
import { capabilitiesOf, type Capability } from '../../resources/capability.js'
import type { Instruction } from '../../messages/coordinator-to-agent.js'
import { errorText } from '../engine/engine.js'
import type { Unsent } from './coordinator-link.js'
import type { Answer, ApplyReport } from '../../messages/agent-to-coordinator.js'

/** A report without the fields added here: kind, trace id, the instruction it answers. */
export type ApplyOutcomeReport = Omit<
  ApplyReport,
  'kind' | 'sequence' | 'traceId' | 'instruction' | 'revision'
>
/** `value`: its shape depends on the query. */
export type AnswerOutcome = Pick<Answer, 'result' | 'value' | 'error'>

type Of<Kind extends Instruction['kind']> = Extract<Instruction, { kind: Kind }>

type AnsweredKind = Exclude<Instruction['kind'], 'apply'>

/** A rejection of a handler is reported as `failed`. */
export type InstructionHandlers = {
  readonly apply: (message: Of<'apply'>, context: Context) => Promise<ApplyOutcomeReport>
} & {
  readonly [Kind in AnsweredKind]: (message: Of<Kind>, context: Context) => Promise<AnswerOutcome>
}

export interface InstructionPort {
  readonly readOnly: boolean
  readonly hasTests: boolean
  readonly handlers: InstructionHandlers
  readonly report: (message: Unsent<ApplyReport>) => void
  /** Sends an answer, by PUT when it is too large for a message. */
  readonly answer: (message: Unsent<Answer>, context: Context) => Promise<void>
}

const needs: Readonly<Record<Instruction['kind'], Capability>> = {
  apply: 'deploy',
  // Loads VCL beside the serving one, if only briefly.
  compile: 'deploy',
  // Its result changes the desired state of the cache.
  showRunning: 'deploy',
  query: 'report',
  // Only commands of the reading list reach the cache.
  command: 'report',
  setParam: 'command',
  setHealth: 'command',
  // Changes which coordinator the agent obeys, nothing on the cache.
  unlock: 'report',
  // Reads the log; without the log tool it fails with a reason.
  top: 'report',
  test: 'tests',
}

/** Never rejects. */
export async function carryOut(
  port: InstructionPort,
  message: Instruction,
  context: Context,
): Promise<void> {
  try {
    if (message.kind === 'apply') reportApply(port, message, await tryApply(port, message, context))
    else await answer(port, message, context)
  } catch (error) {
    context.log.error({ err: error, kind: message.kind }, 'the report could not be sent')
  }
}

async function tryApply(
  port: InstructionPort,
  message: Of<'apply'>,
  context: Context,
): Promise<ApplyOutcomeReport> {
  const nothing = { loaded: [], failures: [], changed: false }
  const refusal = refuse(port, message.kind)
  if (refusal !== null) return { ...nothing, result: 'refused', error: refusal }
  try {
    return await port.handlers.apply(message, context)
  } catch (error) {
    context.log.error({ err: error }, 'apply broke')
    return { ...nothing, result: 'failed', error: errorText(error) }
  }
}

function reportApply(
  port: InstructionPort,
  message: Of<'apply'>,
  outcome: ApplyOutcomeReport,
): void {
  port.report({
    kind: 'applyReport',
    traceId: message.traceId,
    instruction: message.sequence,
    revision: message.revision,
    ...outcome,
  })
}

async function answer(
  port: InstructionPort,
  message: Of<AnsweredKind>,
  context: Context,
): Promise<void> {
  const outcome = await tryAnswer(port, message, context)
  const { sequence: instruction, traceId } = message
  await port.answer({ kind: 'answer', traceId, instruction, sentByPut: false, ...outcome }, context)
}

type Handle = (message: Of<AnsweredKind>, context: Context) => Promise<AnswerOutcome>

async function tryAnswer(
  port: InstructionPort,
  message: Of<AnsweredKind>,
  context: Context,
): Promise<AnswerOutcome> {
  const refusal = refuse(port, message.kind)
  if (refusal !== null) return { result: 'refused', value: null, error: refusal }
  try {
    // The handler at this key takes messages of this kind.
    const handle = port.handlers[message.kind] as Handle
    return await handle(message, context)
  } catch (error) {
    return { result: 'failed', value: null, error: errorText(error) }
  }
}

function refuse(port: InstructionPort, kind: Instruction['kind']): string | null {
  const capability = needs[kind]
  if (capabilitiesOf(port).includes(capability)) return null
  return capability === 'tests' && !port.readOnly
    ? 'this agent runs no tests of VCL: its setting --tests is off'
    : `this agent is read-only: ${kind} needs the capability ${capability}`
}

/** Sends a question to one agent, through the coordinator process that holds its session. */
import { instructionSubject, type InstructionReply } from '../bus/subjects.js'
import type { Context } from '../../context.js'
import { agentStates } from '../../resources/agent-state.js'
import { FleetError } from '../../errors.js'
import { judgeInSteps, type AnswerTo } from '../../messages/answers.js'
import type { Question } from '../../messages/coordinator-to-agent.js'
import { findAgent, type AgentRecord } from '../fleet/agent-queries.js'
import { runInSteps } from '../../in-steps.js'
import type { StateService } from '../service.js'

/** The session gives up before the bus does, so that the reply says why. */
const busGraceMs = 500

/**
 * Returns the value of the agent's answer, typed by the question.
 * Throws FleetError 'agent': not-found, unavailable (not connected, or its cache does not answer), timed-out, locked or
 * conflict (the agent refuses: read-only).
 */
export async function instructAgent<Asked extends Question>(
  service: StateService,
  context: Context,
  request: { readonly agentId: number; readonly question: Asked; readonly timeoutMs: number },
): Promise<AnswerTo<Asked>> {
  const { agentId, question, timeoutMs } = request
  const agent = await findAgent(service.store.queries, { kind: 'all' }, agentId)
  if (!agent) throw new FleetError('not-found', 'agent', `${agentId} was not found`)
  const sent = { question, traceId: context.traceId, timeoutMs }
  const reply = await service.bus
    .request(instructionSubject(agentId), sent, timeoutMs + busGraceMs)
    .catch((error: unknown) => {
      throw explainSilence(agent, timeoutMs, error)
    })
  const { bytes, ...answered } = reply
  const value = readReply(agent, answered, timeoutMs)
  const answer = bytes === undefined ? value : await runInSteps(judgeInSteps(question, bytes))
  return answer as AnswerTo<Asked> // judged where it came in, or here
}

/** Throws FleetError 'agent' if this agent may not be changed: conflict (read-only), locked (docs/behaviour.md, Read-only agents). */
export function requireChangeable(
  agent: Pick<AgentRecord, 'name' | 'state' | 'capabilities' | 'lockedBecause'>,
): void {
  if (agent.lockedBecause !== null)
    throw new FleetError(
      'locked',
      'agent',
      `agent ${agent.name} is locked: it ${agent.lockedBecause}; unlock it first`,
    )
  if (!agent.capabilities.includes('command') || agent.state === agentStates.ReadOnly)
    throw new FleetError(
      'conflict',
      'agent',
      `agent ${agent.name} is read-only: it reports and changes nothing`,
    )
}

function explainSilence(agent: AgentRecord, timeoutMs: number, error: unknown): unknown {
  if (!(error instanceof FleetError)) return error
  // Errors of the bus itself have their own message.
  if (error.kind === 'unavailable' && error.errorKey === 'agent')
    return new FleetError('unavailable', 'agent', `agent ${agent.name} is not connected`)
  if (error.kind === 'timed-out') return tookTooLong(agent, timeoutMs)
  return error
}

function tookTooLong(agent: AgentRecord, timeoutMs: number): FleetError {
  return new FleetError(
    'timed-out',
    'agent',
    `agent ${agent.name} did not answer within ${timeoutMs} ms`,
  )
}

function readReply(agent: AgentRecord, reply: InstructionReply, timeoutMs: number): unknown {
  const { result } = reply
  if (result === 'done') return reply.value
  if (result === 'timed-out') throw tookTooLong(agent, timeoutMs)
  const reason = reply.error ?? 'it gave no reason'
  if (result !== 'refused')
    throw new FleetError('unavailable', 'agent', `agent ${agent.name}: ${reason}`)
  requireChangeable(agent)
  throw new FleetError('conflict', 'agent', `agent ${agent.name} refuses: ${reason}`)
}

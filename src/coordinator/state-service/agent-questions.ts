/** What the API asks of one agent's cache: its VCLs, parameters, backends, bans, panic, and allowed commands. */
import type { Context } from '../../context.js'
import { isSettableParameter, judgeCommand } from '../../domain/engine-command.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import type { QueryName } from '../../messages/coordinator-to-agent.js'
import { readVisibleGroupIds } from '../../store/groups-on-agent.js'
import { findAgent, ownsAgent, type AgentRecord } from './agents.js'
import { instructAgent, requireChangeable } from './instruct.js'
import { scopeOf, type StateService } from './service.js'

/** Chosen by us: longer than the cache's own limit for one command (cli_timeout, 60 s) helps nobody who waits. */
const answerTimeoutMs = 30_000

/** The agent's answer, in the shape of `src/agent/queries.ts`. Throws FleetError: unavailable, timed-out. */
export async function askAgent(
  service: StateService,
  context: Context,
  agent: AgentRecord,
  query: QueryName,
): Promise<unknown> {
  return instructAgent(service, context, {
    agentId: agent.id,
    question: { kind: 'query', query },
    timeoutMs: answerTimeoutMs,
  })
}

/** Names on a cache: `cf-<group>-…`, labels `cf-l-<group>`, `cf-s-<group>`; backends are `<VCL>.<backend>`. */
const nameOfGroup = /^cf-(?:[ls]-)?([1-9]\d*)(?:[-.]|$)/

/**
 * Rows of an answer that the caller may see: on a shared agent an organization sees the idle VCL and what is of its
 * own groups (choices: 2, Agents).
 */
export async function keepVisible<Row extends { readonly name: string }>(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (ownsAgent(actor, agent)) return rows
  const groupIds = new Set(
    await readVisibleGroupIds(service.store.queries, scopeOf(actor), agent.id),
  )
  return rows.filter(({ name }) => {
    const [, id] = nameOfGroup.exec(name) ?? []
    return id === undefined ? /^cf-idle(?:\.|$)/.test(name) : groupIds.has(Number(id))
  })
}

/** The engine's words, whatever it thinks of the command. Throws FleetError: invalid, forbidden, conflict, locked … */
export async function sendCommand(
  service: StateService,
  context: Context,
  agent: AgentRecord,
  text: string,
): Promise<string> {
  const judged = judgeCommand(text)
  if (judged.verdict === 'refused')
    throw new FleetError('invalid', 'agent', `command: ${judged.reason}`)
  if (judged.verdict === 'desired-state') {
    requireChangeable(agent)
    throw notYet(`${judged.name} is not available: this release sets no parameters, health or bans`)
  }
  const message = await instructAgent(service, context, {
    agentId: agent.id,
    question: { kind: 'command', line: judged.line },
    timeoutMs: answerTimeoutMs,
  })
  return typeof message === 'string' ? message : JSON.stringify(message)
}

/** Never answers yet. Throws 'invalid' for parameters that nobody may set, then what keeps this agent from it. */
export function setParameter(agent: AgentRecord, name: string): never {
  if (!isSettableParameter(name))
    throw new FleetError('invalid', 'agent', `parameter ${name} may not be changed by anyone`)
  requireChangeable(agent)
  throw notYet('this release does not set parameters')
}

/** Never answers yet. */
export function setBackendHealth(agent: AgentRecord, health: string): never {
  if (!['healthy', 'sick', 'auto'].includes(health))
    throw new FleetError(
      'invalid',
      'agent',
      `health is ${JSON.stringify(health.slice(0, 80))}; healthy, sick or auto is right`,
    )
  requireChangeable(agent)
  throw notYet('this release does not set the health of backends')
}

function notYet(message: string): FleetError {
  return new FleetError('unavailable', 'agent', message)
}

/** From now on the agent takes this coordinator's word (choices: 3, Locked); one that is not locked stays as it is. */
export async function unlockAgent(
  service: StateService,
  context: Context,
  actor: Actor,
  agent: AgentRecord,
): Promise<AgentRecord> {
  if (agent.lockedBecause === null) return agent
  context.log.info({ agentId: agent.id, agent: agent.name }, 'unlocking')
  await instructAgent(service, context, {
    agentId: agent.id,
    question: { kind: 'unlock' },
    timeoutMs: answerTimeoutMs,
  })
  return (await findAgent(service, actor, agent.id)) ?? agent
}

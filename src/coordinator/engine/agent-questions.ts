/** Queries one agent's cache for the API: VCLs, parameters, backends, bans, panic, and allowed commands. */
import type { Context } from '../../context.js'
import { judgeCommand } from '../../vcl/engine-command.js'
import { cutPrologue } from '../../vcl/prologue.js'
import { FleetError } from '../../errors.js'
import type { QueryAnswers } from '../../messages/answers.js'
import type { QueryName } from '../../messages/coordinator-to-agent.js'
import { readPlacedGroups } from '../fleet/setting-queries.js'
import { ownsAgent, type AgentRecord } from '../agents/agents.js'
import { instructAgent } from '../agents/instruct.js'
import { scopeOf, type StateService } from '../service.js'
import { sendSetting, type Caller } from './setting-commands.js'

/** Waiting longer than the cache's own limit for a command (cli_timeout, 60 s) would be useless. */
const answerTimeoutMs = 30_000

interface QuestionTimeout {
  /** Default: 30 s. */
  readonly timeoutMs?: number
}

interface Ask<Name extends QueryName> extends QuestionTimeout {
  readonly query: Name
}

/** The agent's answer. Throws FleetError: unavailable, timed-out. */
export async function askAgent<Name extends QueryName>(
  service: StateService,
  context: Context,
  agent: Pick<AgentRecord, 'id'>,
  { query, timeoutMs = answerTimeoutMs }: Ask<Name>,
): Promise<QueryAnswers[Name]> {
  const question = { kind: 'query', query } as const
  const answer = await instructAgent(service, context, { agentId: agent.id, question, timeoutMs })
  return answer as QueryAnswers[Name] // the compiler can check this only for a literal name
}

/** As askAgent, limited to what the caller may see. */
export async function askAgentFor<Name extends QueryName>(
  service: StateService,
  context: Context,
  caller: Caller,
  ask: Ask<Name>,
): Promise<QueryAnswers[Name]> {
  const value = await askAgent(service, context, caller.agent, ask)
  return visibleParts[ask.query](service, caller, value)
}

type VisiblePart<Answer> = (
  service: StateService,
  caller: Caller,
  value: Answer,
) => Answer | Promise<Answer>

/** On a shared agent only the owner sees bans and panics. */
const visibleParts: { readonly [Name in QueryName]: VisiblePart<QueryAnswers[Name]> } = {
  vcls: keepVisible,
  backends: keepVisible,
  bans: (_, { actor, agent }, bans) => (ownsAgent(actor, agent) ? bans : []),
  panic: (_, { actor, agent }, panic) => (ownsAgent(actor, agent) ? panic : null),
  params: (_, __, params) => params,
}

/** Names on a cache: `cf-<group>-…`, labels `cf-l-<group>`, `cf-s-<group>`; backends are `<VCL>.<backend>`. */
const nameOfGroup = /^cf-(?:[ls]-)?([1-9]\d*)(?:[-.]|$)/

/**
 * The rows that the caller may see: on a shared agent an organization sees the idle VCL and the rows of its own groups
 * (docs/behaviour.md, Shared agents).
 */
export async function keepVisible<Row extends { readonly name: string }>(
  service: StateService,
  { actor, agent }: Caller,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (ownsAgent(actor, agent)) return rows
  const placed = await readPlacedGroups(service.store.queries, scopeOf(actor), agent.id)
  const groupIds = new Set(placed.map(({ groupId }) => groupId))
  return rows.filter(({ name }) => {
    const [, id] = nameOfGroup.exec(name) ?? []
    return id === undefined ? /^cf-idle(?:\.|$)/.test(name) : groupIds.has(Number(id))
  })
}

/** Returns the engine's reply, also if it is an error. Throws FleetError: invalid, forbidden, conflict, locked … */
export async function sendCommand(
  service: StateService,
  context: Context,
  caller: Caller,
  text: string,
): Promise<string> {
  const { agent } = caller
  const judged = judgeCommand(text)
  if (judged.verdict === 'refused')
    throw new FleetError('invalid', 'agent', `command: ${judged.reason}`)
  if (judged.verdict === 'desired-state') return sendSetting(service, context, caller, judged)
  return askEngine(service, context, agent, { line: judged.line })
}

/** Returns the engine's reply to a read-only command. Throws as askAgent. */
export async function askEngine(
  service: StateService,
  context: Context,
  agent: Pick<AgentRecord, 'id'>,
  { line, timeoutMs = answerTimeoutMs }: QuestionTimeout & { readonly line: string },
): Promise<string> {
  const question = { kind: 'command', line } as const
  return cutPrologue(
    await instructAgent(service, context, { agentId: agent.id, question, timeoutMs }),
  )
}

/** Unlocks agents: previews the changes on a cache, and handles many agents at once. */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { findUnlockDifference, type UnlockDifference } from '../../vcl/unlock-difference.js'
import { FleetError } from '../../errors.js'
import {
  readAgentDetail,
  selectAgents,
  readAgents,
  toAgentRecords,
  type AgentDetail,
  type AgentRecord,
} from '../fleet/agent-queries.js'
import { forgetRestoredRevision } from '../fleet/restored-revisions.js'
import type { NamedReference } from '../store/owner.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { referencesNotFound, requireOwner } from '../api/find-references.js'
import { foreseeReturn } from '../placement/foresee-return.js'
import { scopeOf, type StateService } from '../service.js'
import { instructAgent } from './instruct.js'
import { watchAgents } from './watch-agents.js'
import { findAgent, ownsAgent } from './agents.js'

/** Requested for a single agent only, by its owner. */
export interface AgentDetails extends Pick<AgentDetail, 'adoptionDifference'> {
  readonly difference: UnlockDifference | null
}

/** Form used in lists and events. */
export const noDetails: AgentDetails = { adoptionDifference: null, difference: null }

/** Queries the store only if there may be something. */
export async function readAgentDetails(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
): Promise<AgentDetails> {
  const { adoption, lockedBecause, capabilities } = agent
  const isLocked = lockedBecause !== null && capabilities.includes('deploy')
  const mayDiffer = adoption?.result === 'adopted' && adoption.error !== null
  if (!ownsAgent(actor, agent) || (!isLocked && !mayDiffer)) return noDetails
  const { queries } = service.store
  const { adoptionDifference, held } = await readAgentDetail(queries, agent.id)
  if (!isLocked || held === null) return { adoptionDifference, difference: null }
  const adopting = held.takeover === 'adopt' && !held.takenOver
  const desired = await foreseeReturn(queries, agent.id, { adopting })
  return { adoptionDifference, difference: findUnlockDifference(held, desired) }
}

interface UnlockRequest {
  readonly agents?: readonly { readonly id: number }[] | undefined
  /** Returns every locked agent that the caller may read. */
  readonly all?: boolean | undefined
}

interface UnlockOutcome {
  readonly unlocked: readonly NamedReference[]
  readonly skipped: readonly { readonly agent: NamedReference; readonly reason: string }[]
}

/** Limit of agents that are asked at the same time. */
const atOnce = 16
/** Time limit for agents that do not answer; agents not asked by then are reported as skipped. */
const longestMs = 60_000
/** Time limit per agent, not above the cache's own limit for a command (cli_timeout, 60 s). */
const answerTimeoutMs = 30_000
/** An agent sends its new condition before its answer; it is written a moment later. */
const recordedWithinMs = 5000

/** Throws 'invalid' for missing agents, 'forbidden' for named agents that are merely shared with the caller. */
export async function unlockAgents(
  service: StateService,
  context: Context,
  actor: Actor,
  request: UnlockRequest,
): Promise<UnlockOutcome> {
  const agents = await findWanted(service, actor, request)
  const untilMs = service.now() + longestMs
  const semaphore = new Semaphore({ permits: atOnce })
  const outcomes = await Promise.all(
    agents.map((agent) =>
      semaphore.run(() => tryUnlock(service, context, actor, { agent, untilMs })),
    ),
  )
  return {
    unlocked: outcomes.flatMap(({ unlocked }) => unlocked),
    skipped: outcomes.flatMap(({ skipped }) => skipped),
  }
}

async function findWanted(
  service: StateService,
  actor: Actor,
  { agents, all = false }: UnlockRequest,
): Promise<readonly AgentRecord[]> {
  if (all === (agents !== undefined))
    throw new FleetError('invalid', 'agent', 'give either agents, a list of {id}, or all: true')
  const { queries } = service.store
  if (all) {
    const locked = selectAgents(queries, scopeOf(actor)).where(
      'agents.lockedBecause',
      'is not',
      null,
    )
    return toAgentRecords(queries, await locked.orderBy('agents.id').execute())
  }
  const ids = [...new Set((agents ?? []).map(({ id }) => id))]
  const found = await readAgents(queries, scopeOf(actor), ids)
  const known = new Set(found.map(({ id }) => id))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length > 0) throw referencesNotFound('agents', missing, 'agent')
  for (const agent of found) requireOwner(actor, agent, 'agent')
  return found
}

async function tryUnlock(
  service: StateService,
  context: Context,
  actor: Actor,
  { agent, untilMs }: { readonly agent: AgentRecord; readonly untilMs: number },
): Promise<UnlockOutcome> {
  const reference = { id: agent.id, name: agent.name }
  const skip = (reason: string): UnlockOutcome => ({
    unlocked: [],
    skipped: [{ agent: reference, reason }],
  })
  if (!ownsAgent(actor, agent))
    return skip('it is shared by all organizations; only the system administrator unlocks it')
  if (agent.lockedBecause === null) return skip('it is not locked')
  if (service.now() > untilMs)
    return skip(
      `it was not asked within ${longestMs / 1000} s, since others did not answer; unlock it again`,
    )
  try {
    await unlockAgent(service, context, actor, agent)
    return { unlocked: [reference], skipped: [] }
  } catch (error) {
    if (error instanceof FleetError) return skip(error.message)
    throw error
  }
}

/** From now on the agent accepts changes of this coordinator (docs/behaviour.md, Locked agents); other agents are unchanged. */
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
  await forgetRestoredRevision(service.store.queries, agent.id)
  const unlocked = await watchAgents(
    service,
    async () => {
      const now = await findAgent(service, actor, agent.id)
      return now?.lockedBecause === agent.lockedBecause ? undefined : now
    },
    service.now() + recordedWithinMs,
  )
  return unlocked ?? (await findAgent(service, actor, agent.id)) ?? agent
}

/** Authenticates agents: known ones by their own key, new ones by a join token. Both are stored as SHA-256 digests only. */
import { agentStates } from '../../resources/agent-state.js'
import { findAgentNameProblem, linkedAgentNameLimit } from '../../resources/names.js'
import { FleetError } from '../../errors.js'
import { findAgentByKey, findAgentByName } from '../fleet/agent-rows.js'
import { digestToken } from '../identity/tokens.js'
import { findUsableJoinToken } from './join-token-queries.js'
import type { StateService } from '../service.js'

export interface KnownAgent {
  readonly kind: 'known'
  readonly agentId: number
  readonly name: string
  readonly keyDigest: string
  /** The valid link when the agent asked to connect. */
  readonly linkId: string | null
}

export interface JoiningAgent {
  readonly kind: 'joining'
  readonly name: string
  readonly tokenId: number
  /** Null for an agent shared by all organizations. */
  readonly organizationId: number | null
  readonly tagIds: readonly number[]
  /** The Down agent whose name, id and placements it would take over; null if the name is unused. */
  readonly takesOver: number | null
  /** The valid link of the agent to be taken over, when the caller asked to connect. */
  readonly linkId: string | null
}

export type Credential = KnownAgent | JoiningAgent

/** Throws FleetError 'unauthenticated' for an unknown or revoked key. */
export async function recognizeKey(service: StateService, key: string): Promise<KnownAgent> {
  // Looked up by the whole digest, so that comparing secrets cannot leak timing; join tokens likewise.
  const keyDigest = digestToken(key)
  const agent = await findAgentByKey(service.store.queries, keyDigest)
  if (!agent)
    throw new FleetError(
      'unauthenticated',
      'auth',
      'no agent has this key; a new one enrols with its join token',
    )
  const { id: agentId, name, linkId } = agent
  return { kind: 'known', agentId, name, keyDigest, linkId }
}

/** Throws FleetError 'unauthenticated' for the token, 'invalid' or 'conflict' for the name. The use is counted at hello. */
export async function recognizeJoinToken(
  service: StateService,
  token: string,
  name: string,
): Promise<JoiningAgent> {
  const { queries } = service.store
  const found = await findUsableJoinToken(queries, digestToken(token), service.now())
  if (!found)
    throw new FleetError(
      'unauthenticated',
      'auth',
      'this join token is unknown, used up, expired or revoked',
    )
  const problem = findAgentNameProblem(name, linkedAgentNameLimit)
  if (problem !== null) throw new FleetError('invalid', 'agent', `X-Cachefleet-Name: ${problem}`)
  const agent = await findAgentByName(queries, name)
  if (agent && !mayTakeOver(agent, found.organizationId)) throw nameTaken(name)
  return {
    kind: 'joining',
    name,
    tokenId: found.id,
    organizationId: found.organizationId,
    tagIds: found.tagIds,
    takesOver: agent?.id ?? null,
    linkId: agent?.linkId ?? null,
  }
}

/** The name of a Down agent may be taken over with a token of the same organization: a reinstalled host (docs/behaviour.md, Enrolment). */
export function mayTakeOver(
  agent: { readonly state: number; readonly organizationId: number | null },
  organizationId: number | null,
): boolean {
  return agent.state === agentStates.Down && agent.organizationId === organizationId
}

export function nameTaken(name: string): FleetError {
  return new FleetError(
    'conflict',
    'agent',
    `the name ${name} is another agent's; one that is Down is taken over by a join token of its organization`,
  )
}

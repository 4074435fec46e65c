/** Creates rows of new agents with tags and an idle desired state, in a fixed number of statements (docs/behaviour.md, Enrolment). */
import { idleEngine } from '../../vcl/desired-engine.js'
import { FleetError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import type { AgentDescription } from '../../messages/agent-to-coordinator.js'
import { insertAgents, type NewAgent } from '../fleet/agent-rows.js'
import { addFirstTags, keepTags, readExistingTags, type BorneTag } from '../fleet/agent-tags.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import type { JoiningAgent } from './agent-credentials.js'
import {
  findLockReason,
  firstRevision,
  isReadOnly,
  toDescribed,
  toFirstCondition,
  type RegisteredAgent,
} from './described-agent.js'
import { countJoinTokenUses } from './join-token-queries.js'

export interface Enrolling {
  readonly joining: JoiningAgent
  readonly hello: AgentDescription
}

/**
 * Enrols all or none and returns them in order. Throws FleetError: unauthenticated (a token was used up in the meantime), conflict
 * (an organization has too many), and a unique violation if a name or key belongs to another agent.
 */
export async function enrolAgents(
  service: StateService,
  queries: Queries,
  enrolling: readonly Enrolling[],
): Promise<readonly RegisteredAgent[]> {
  const now = service.now()
  await countUses(queries, enrolling, now)
  const ids = await insertAgents(
    queries,
    enrolling.map((one) => toNewAgent(service, one)),
    now,
  )
  const idOf = ({ joining: { name } }: Enrolling): number => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`agent ${name} was written and is not there`)
    return id
  }
  await addTags(queries, enrolling, { idOf, now })
  return enrolling.map((one) => toEnrolled(service, one, idOf(one)))
}

async function countUses(
  queries: Queries,
  enrolling: readonly Enrolling[],
  now: number,
): Promise<void> {
  const byToken = groupBy(enrolling, ({ joining }) => joining.tokenId)
  // In a fixed order, because each locks its row.
  for (const [tokenId, { length: uses }] of [...byToken].toSorted(([a], [b]) => a - b))
    if (!(await countJoinTokenUses(queries, tokenId, { uses, now })))
      throw new FleetError('unauthenticated', 'auth', 'the join token can no longer be used')
}

function toNewAgent(service: StateService, { joining, hello }: Enrolling): NewAgent {
  const { keyDigest, adoption } = hello
  return {
    ...toDescribed(hello),
    ...toFirstCondition(hello, findLockReason(service, firstRevision, hello)),
    keyDigest,
    organizationId: joining.organizationId,
    desiredRevision: firstRevision,
    desired: JSON.stringify(idleEngine),
    adopting: adoption === undefined ? 0 : 1,
  }
}

/** Agents of one token mostly send the same tags, which are looked up once. */
async function addTags(
  queries: Queries,
  enrolling: readonly Enrolling[],
  { idOf, now }: { readonly idOf: (one: Enrolling) => number; readonly now: number },
): Promise<void> {
  const alike = groupBy(enrolling, ({ joining, hello }) =>
    JSON.stringify([joining.tokenId, hello.tags.toSorted()]),
  )
  const borne: BorneTag[] = []
  for (const agents of alike.values()) {
    const [first] = agents
    if (!first) continue
    const { organizationId, tagIds } = first.joining
    const sent = new Set(await keepTags(queries, organizationId, first.hello.tags, now))
    const assigned = new Set(await readExistingTags(queries, tagIds))
    for (const agent of agents)
      for (const tagId of new Set([...sent, ...assigned]))
        borne.push({
          agentId: idOf(agent),
          tagId,
          static: sent.has(tagId),
          assigned: assigned.has(tagId),
        })
  }
  await addFirstTags(queries, borne)
}

function toEnrolled(
  service: StateService,
  { joining, hello }: Enrolling,
  agentId: number,
): RegisteredAgent {
  const { organizationId, name } = joining
  return {
    agentId,
    organizationId,
    name,
    keyDigest: hello.keyDigest,
    desiredRevision: firstRevision,
    readOnly: isReadOnly(hello),
    isNew: true,
    wasAway: false,
    draining: false,
    lockedBecause: hello.condition.lockedBecause ?? findLockReason(service, firstRevision, hello),
  }
}

/**
 * Hello: a new agent becomes a row with tags and an idle desired state, a Down one of the same name is taken over,
 * a known one is compared with its row and only what differs is written (docs/behaviour.md, Enrolment).
 */
import type { Context } from '../../context.js'
import { agentStates } from '../../resources/agent-state.js'
import { FleetError } from '../../errors.js'
import type { AgentDescription } from '../../messages/agent-to-coordinator.js'
import {
  addAssignedTags,
  keepTags,
  readExistingTags,
  readStaticTagNames,
  replaceStaticTags,
} from '../fleet/agent-tags.js'
import {
  findAgentByName,
  findRegistered,
  replaceAgent,
  describedColumns,
  type RegisteredRow,
} from '../fleet/agent-rows.js'
import { parseAdoption } from '../fleet/agent-queries.js'
import { setAdopting } from '../fleet/adoption-queries.js'
import { hasMissedEntries } from '../invalidations/delivery-queries.js'
import { countJoinTokenUses } from './join-token-queries.js'
import { forgetRestoredRevision, readRestoredRevision } from '../fleet/restored-revisions.js'
import { isUniqueViolation } from '../store/violation.js'
import type { Queries } from '../store/store.js'
import { updateRow } from '../store/write-rows.js'
import { mayTakeOver, nameTaken, type JoiningAgent, type KnownAgent } from './agent-credentials.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import type { StateService } from '../service.js'
import {
  findLockReason,
  isReadOnly,
  refuseSkew,
  toDescribed,
  type RegisteredAgent,
  toFirstCondition,
} from './described-agent.js'
import { enrolAgents } from './enrol-agents.js'

/** Throws FleetError 'invalid'. */
export function checkHello(joining: JoiningAgent, hello: AgentDescription): void {
  refuseSkew(hello)
  if (hello.name !== joining.name)
    throw new FleetError(
      'invalid',
      'agent',
      `hello names ${hello.name}, X-Cachefleet-Name ${joining.name}`,
    )
}

/** Throws FleetError: unauthenticated (the token was used up in the meantime), conflict (the name or key is taken), invalid. */
export async function registerAgent(
  service: StateService,
  context: Context,
  joining: JoiningAgent,
  hello: AgentDescription,
): Promise<RegisteredAgent> {
  checkHello(joining, hello)
  const { taken, enrolled } = await service.store
    .transaction(async (queries) => {
      const row =
        joining.takesOver === null ? undefined : await takeOver(service, queries, joining, hello)
      if (row) return { taken: row, enrolled: [] }
      return { taken: null, enrolled: await enrolAgents(service, queries, [{ joining, hello }]) }
    })
    .catch((error: unknown) => {
      // Another call enrolled this name or key at the same time.
      throw isUniqueViolation(error) ? nameTaken(joining.name) : error
    })
  const registered = taken ? await toRegistered(service, taken, hello, true) : enrolled[0]
  if (!registered) throw new Error(`agent ${joining.name} was not enrolled`)
  const { agentId } = registered
  notifyAgentsChanged(service, [agentId])
  if (taken) context.log.info({ agentId, agent: joining.name }, 'agent took its name over')
  return registered
}

/** Throws FleetError: unauthenticated (deleted in the meantime), conflict (its new name is taken), invalid. */
export async function recognizeAgent(
  service: StateService,
  context: Context,
  known: KnownAgent,
  hello: AgentDescription,
): Promise<RegisteredAgent> {
  refuseSkew(hello)
  const row = await updateDescription(service, context, known.agentId, hello)
  if (row?.keyDigest !== known.keyDigest)
    throw new FleetError('unauthenticated', 'auth', 'this agent was deleted or taken over')
  return toRegistered(service, row, hello, row.state !== agentStates.Running)
}

/** Writes what differs between a hello or full state and the row, and returns the row. The condition is written like a heartbeat's. */
export async function updateDescription(
  service: StateService,
  context: Context,
  agentId: number,
  described: AgentDescription,
): Promise<RegisteredRow | undefined> {
  const { queries } = service.store
  const row = await findRegistered(queries, agentId)
  if (!row) return undefined
  const isCalledOther = row.toldName === described.name
  const columns = { ...toDescribed(described), ...(isCalledOther && { name: row.name }) }
  const isDescribed = describedColumns.every((name) => row[name] === columns[name])
  const tagNames = await readStaticTagNames(queries, agentId)
  const sentNames = listStaticTags(row, described)
  const isTagged = isSameSet(tagNames, sentNames)
  // A value that was refused once does not block groups again.
  const isAdopting = described.adoption !== undefined && row.adoption === null
  const isMarked = isAdopting === (row.adopting === 1)
  if (isDescribed && isTagged && isMarked) return row
  const now = service.now()
  const write = async (changes: Queries): Promise<void> => {
    if (!isDescribed) await updateRow(changes, 'agents', agentId, { ...columns, updatedAt: now })
    if (!isMarked) await setAdopting(changes, agentId, isAdopting)
    if (isTagged) return
    // An adoption, which adds a tag to the agent, may have been decided since the row was read.
    const names = listStaticTags(await findRegistered(changes, agentId), described)
    const sent = await keepTags(changes, row.organizationId, names, now)
    await replaceStaticTags(changes, agentId, sent)
  }
  const { store } = service
  await (isTagged && isMarked ? store.transaction(write) : store.decide(write)).catch(
    (error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(described.name) : error
    },
  )
  notifyAgentsChanged(service, [agentId])
  context.log.info({ agentId, agent: described.name }, 'agent describes itself anew')
  return findRegistered(queries, agentId)
}

/** Undefined if no agent has this name any more. */
async function takeOver(
  service: StateService,
  queries: Queries,
  joining: JoiningAgent,
  hello: AgentDescription,
): Promise<RegisteredRow | undefined> {
  const now = service.now()
  const known = await findAgentByName(queries, joining.name)
  const before = known && (await findRegistered(queries, known.id))
  if (!before) return undefined
  const { id } = before
  if (!(await countJoinTokenUses(queries, joining.tokenId, { uses: 1, now })))
    throw new FleetError('unauthenticated', 'auth', 'the join token can no longer be used')
  const reason = findLockReason(service, before.desiredRevision, hello)
  const columns = {
    ...toDescribed(hello),
    ...toFirstCondition(hello, reason),
    keyDigest: hello.keyDigest,
    // It stays Down until its first heartbeat if it has to catch up.
    ...((await hasMissedEntries(queries, id)) && { state: known.state }),
  }
  const isReplaced =
    mayTakeOver(known, joining.organizationId) && (await replaceAgent(queries, id, columns, now))
  if (!isReplaced) throw nameTaken(joining.name)
  if (hello.adoption !== undefined) await setAdopting(queries, id, true)
  const names = listStaticTags(before, hello)
  await replaceStaticTags(queries, id, await keepTags(queries, joining.organizationId, names, now))
  await addAssignedTags(queries, id, await readExistingTags(queries, joining.tagIds))
  return findRegistered(queries, id)
}

async function toRegistered(
  service: StateService,
  row: RegisteredRow,
  hello: AgentDescription,
  wasAway: boolean,
): Promise<RegisteredAgent> {
  const { queries } = service.store
  const restored = await readRestoredRevision(queries, row.id)
  const known = Math.min(restored ?? row.desiredRevision, row.desiredRevision)
  const reason = findLockReason(service, known, hello)
  if (restored !== undefined && reason === null) await forgetRestoredRevision(queries, row.id)
  return {
    agentId: row.id,
    organizationId: row.organizationId,
    name: row.name,
    keyDigest: row.keyDigest,
    desiredRevision: reason === null ? row.desiredRevision : known,
    readOnly: isReadOnly(hello),
    isNew: false,
    wasAway,
    draining: row.draining !== null,
    lockedBecause: hello.condition.lockedBecause ?? reason,
  }
}

/** An adopted group stays placed: the coordinator keeps the agent's tag as long as a deployment requires it. */
function listStaticTags(
  row: Pick<RegisteredRow, 'adoption'> | undefined,
  { tags }: Pick<AgentDescription, 'tags'>,
): readonly string[] {
  const tag = parseAdoption(row?.adoption ?? null)?.tag
  return tag ? [...new Set([...tags, tag])] : tags
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const given = new Set(b)
  return given.size === new Set(a).size && a.every((name) => given.has(name))
}

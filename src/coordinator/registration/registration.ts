/**
 * Hello: a new agent becomes a row with tags and an idle desired state, a Down one of the same name is taken over,
 * a known one is compared with its row and only what differs is written (docs/behaviour.md, Enrolment).
 */
import type { Context } from '../../context.js'
import { agentStates, stateOfLiveAgent } from '../../resources/agent-state.js'
import { capabilities } from '../../resources/capability.js'
import { idleEngine } from '../../vcl/desired-engine.js'
import { FleetError } from '../../errors.js'
import type { AgentDescription, EngineCondition } from '../../messages/agent-to-coordinator.js'
import {
  addAssignedTags,
  addStaticTags,
  keepTags,
  readExistingTags,
  readStaticTagNames,
  replaceStaticTags,
} from '../fleet/agent-tags.js'
import {
  describeAgent,
  findAgentByName,
  findRegistered,
  insertAgent,
  replaceAgent,
  type ConditionColumns,
  describedColumns,
  type DescribedColumns,
  type RegisteredRow,
} from '../fleet/agent-rows.js'
import { parseAdoption } from '../fleet/agent-queries.js'
import { setAdopting } from '../fleet/adoption-queries.js'
import { hasMissedEntries } from '../invalidations/delivery-queries.js'
import { countJoinTokenUse } from './join-token-queries.js'
import { forgetRestoredRevision, readRestoredRevision } from '../fleet/restored-revisions.js'
import { isUniqueViolation } from '../store/violation.js'
import type { Queries } from '../store/store.js'
import { version } from '../../version.js'
import { mayTakeOver, nameTaken, type JoiningAgent, type KnownAgent } from './agent-credentials.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import type { StateService } from '../service.js'
import { findSkew } from '../../resources/version-skew.js'

export interface RegisteredAgent {
  readonly agentId: number
  readonly organizationId: number | null
  readonly name: string
  readonly keyDigest: string
  /** What it is told of the newest revision that is known here. */
  readonly desiredRevision: number
  readonly readOnly: boolean
  /** It was Down, or had not caught up when its last link ended: it is not Running before it has done what it missed. */
  readonly wasAway: boolean
  readonly draining: boolean
  /** Why it must not be changed: as it says, or as its coordinator id and revision say. */
  readonly lockedBecause: string | null
}

/** The revision that every new agent starts with: the idle engine. */
const firstRevision = 1
/** Conditions are one line; a longer one is cut. */
const lineLimit = 4096

/** Throws FleetError: unauthenticated (the token was used up meanwhile), conflict (the name or key is taken), invalid. */
export async function registerAgent(
  service: StateService,
  context: Context,
  joining: JoiningAgent,
  hello: AgentDescription,
): Promise<RegisteredAgent> {
  refuseSkew(hello)
  if (hello.name !== joining.name)
    throw new FleetError(
      'invalid',
      'agent',
      `hello names ${hello.name}, X-Cachefleet-Name ${joining.name}`,
    )
  const now = service.now()
  const row = await service.store
    .transaction(async (queries) => {
      if (!(await countJoinTokenUse(queries, joining.tokenId, now)))
        throw new FleetError('unauthenticated', 'auth', 'the join token can no longer be used')
      const { id, isNew } = await keepAgent(service, queries, joining, hello)
      const before = isNew ? undefined : await findRegistered(queries, id)
      const names = listStaticTags(before, hello)
      const sent = await keepTags(queries, joining.organizationId, names, now)
      await (isNew ? addStaticTags : replaceStaticTags)(queries, id, sent)
      await addAssignedTags(queries, id, await readExistingTags(queries, joining.tagIds))
      return findRegistered(queries, id)
    })
    .catch((error: unknown) => {
      // Somebody else enrolled this name, or this key, at the same time.
      throw isUniqueViolation(error) ? nameTaken(joining.name) : error
    })
  if (!row) throw new Error(`agent ${joining.name} was written and is not there`)
  notifyAgentsChanged(service, [row.id])
  const taken = joining.takesOver === row.id
  context.log.info(
    { agentId: row.id, agent: row.name },
    taken ? 'agent took its name over' : 'agent enrolled',
  )
  return toRegistered(service, row, hello, taken)
}

/** Throws FleetError: unauthenticated (deleted meanwhile), conflict (its new name is taken), invalid. */
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

/** Writes what a hello or a full state says other than the row, and answers the row. The condition is written as that of a heartbeat is. */
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
  // What was refused once does not keep groups away again.
  const isAdopting = described.adoption !== undefined && row.adoption === null
  const isMarked = isAdopting === (row.adopting === 1)
  if (isDescribed && isTagged && isMarked) return row
  const now = service.now()
  const write = async (changes: Queries): Promise<void> => {
    if (!isDescribed) await describeAgent(changes, agentId, columns, now)
    if (!isMarked) await setAdopting(changes, agentId, isAdopting)
    if (isTagged) return
    // An adoption, which gives the agent a tag, may have been decided since the row was read.
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

/** What the row keeps of a moment. */
export function toCondition(
  condition: EngineCondition,
  agent: { readonly readOnly: boolean },
): ConditionColumns {
  const { engineState, engineError, effectiveRevision, lockedBecause, cachePid = null } = condition
  const locked = lockedBecause !== null
  return {
    state: stateOfLiveAgent({ readOnly: agent.readOnly, locked, engineState }),
    engineState,
    engineError: engineError?.slice(0, lineLimit) ?? null,
    effectiveRevision: effectiveRevision === 0 ? null : effectiveRevision,
    lockedBecause: lockedBecause?.slice(0, lineLimit) ?? null,
    cachePid,
  }
}

function refuseSkew(hello: AgentDescription): void {
  const skew = findSkew(version, hello.agentVersion)
  if (skew !== null) throw new FleetError('invalid', 'agent', skew)
}

/** Keeps a new row, or takes over the Down one whose name this is. */
async function keepAgent(
  service: StateService,
  queries: Queries,
  joining: JoiningAgent,
  hello: AgentDescription,
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const now = service.now()
  const known = await findAgentByName(queries, joining.name)
  const row = known && (await findRegistered(queries, known.id))
  const reason = findLockReason(service, row?.desiredRevision ?? firstRevision, hello)
  // One that will be Locked is never seen as Running before it has said so.
  const lockedBecause = hello.condition.lockedBecause ?? reason
  const condition = toCondition(
    { ...hello.condition, lockedBecause },
    { readOnly: isReadOnly(hello) },
  )
  const columns = { ...toDescribed(hello), keyDigest: hello.keyDigest }
  if (!known) {
    const id = await insertAgent(
      queries,
      {
        ...columns,
        ...condition,
        organizationId: joining.organizationId,
        desiredRevision: firstRevision,
        desired: JSON.stringify(idleEngine),
        adopting: hello.adoption === undefined ? 0 : 1,
      },
      now,
    )
    return { id, isNew: true }
  }
  const isReplaced =
    mayTakeOver(known, joining.organizationId) &&
    (await replaceAgent(
      queries,
      known.id,
      {
        ...columns,
        ...condition,
        // It stays Down until its first heartbeat when it has to catch up.
        ...((await hasMissedEntries(queries, known.id)) && { state: known.state }),
      },
      now,
    ))
  if (!isReplaced) throw nameTaken(joining.name)
  if (hello.adoption !== undefined) await setAdopting(queries, known.id, true)
  return { id: known.id, isNew: false }
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
    wasAway,
    draining: row.draining !== null,
    lockedBecause: hello.condition.lockedBecause ?? reason,
  }
}

/** The agent judges the same from the welcome; until it says so, this coordinator must not send it changes. */
function findLockReason(
  service: StateService,
  knownRevision: number,
  hello: AgentDescription,
): string | null {
  if (hello.coordinatorId === null) return null
  if (hello.coordinatorId !== service.coordinatorId)
    return `is enrolled at coordinator ${hello.coordinatorId}, this is coordinator ${service.coordinatorId}`
  const { heldRevision } = hello.condition
  return heldRevision > knownRevision
    ? `holds revision ${heldRevision}, the coordinator knows ${knownRevision}`
    : null
}

function isReadOnly(hello: AgentDescription): boolean {
  return !hello.capabilities.includes('deploy')
}

function toDescribed(hello: AgentDescription): DescribedColumns {
  return {
    name: hello.name,
    agentVersion: hello.agentVersion,
    capabilities: JSON.stringify(capabilities.filter((name) => hello.capabilities.includes(name))),
    engineHost: hello.engine.host,
    enginePort: hello.engine.port,
    engineProduct: hello.engine.product ?? '',
    engineVersion: hello.engine.version,
    engineWorkingDirectory: hello.engine.workingDirectory,
    engineRevision: hello.engine.revision ?? '',
    hostName: hello.hostName ?? '',
    held: hello.held === undefined ? null : JSON.stringify(hello.held),
    logTrouble: hello.logTrouble?.slice(0, lineLimit) ?? null,
  }
}

/** What was adopted stays where it is: the coordinator gives the agent its tag for as long as a deployment asks for it. */
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

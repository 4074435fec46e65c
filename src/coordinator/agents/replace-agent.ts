/**
 * Replaces a lost host by a new one (docs/behaviour.md, Replaced hosts): the Down agent keeps its data and gets the key of the
 * new agent, which is deleted.
 */
import { FleetError } from '../../errors.js'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import type { Actor } from '../../resources/permission.js'
import { placementInputsSubject } from '../bus/subjects.js'
import { giveStaticTags } from '../fleet/agent-tags.js'
import {
  deleteAgentRow,
  describedColumns,
  findRegistered,
  replaceAgent,
  takeReportedName,
  type DescribedColumns,
} from '../fleet/agent-rows.js'
import { readGroupsOfAgents } from '../fleet/group-members.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { notifyAgentRevoked, notifyAgentsChanged } from './agent-hints.js'
import { findAgent, findOwnAgent, type AgentRecord } from './agents.js'

/** Throws 'invalid' if there is no such agent, 'forbidden' if it is not the caller's, 'conflict' if it cannot be replaced. */
export async function replaceByAgent(
  service: StateService,
  actor: Actor,
  lost: AgentRecord,
  byId: number,
): Promise<AgentRecord> {
  const by = await findOwnAgent(service, actor, byId)
  if (!by) throw new FleetError('invalid', 'agent', `by: ${byId} was not found`)
  await service.store.decide(async (queries) => {
    await requireReplaceable(queries, lost, by)
    await takePlace(queries, { lost, by, now: service.now() })
  })
  // Its link ends and reconnects with the same key as the other agent.
  notifyAgentRevoked(service, by.id)
  notifyAgentsChanged(service, [lost.id, by.id])
  service.bus.publish(placementInputsSubject, {})
  return (await findAgent(service, actor, lost.id)) ?? lost
}

async function requireReplaceable(
  queries: Queries,
  lost: AgentRecord,
  by: AgentRecord,
): Promise<void> {
  const [lostRow, byRow] = [
    await findRegistered(queries, lost.id),
    await findRegistered(queries, by.id),
  ]
  const [lostName, byName] = [JSON.stringify(lost.name), JSON.stringify(by.name)]
  if (!lostRow || !byRow) throw refuse('one of the agents was deleted meanwhile')
  if (lostRow.organizationId !== byRow.organizationId)
    throw refuse(`agents ${lostName} and ${byName} are not of the same organization`)
  if (lostRow.state !== agentStates.Down)
    throw refuse(
      `agent ${lostName} is ${nameState(lostRow.state)}; only one that is Down is replaced`,
    )
  if (byRow.state !== agentStates.Running)
    throw refuse(`agent ${byName} is ${nameState(byRow.state)}; what replaces must be Running`)
  if ((await readPlacements(queries, { agentIds: [by.id] })).length > 0)
    throw refuse(`groups are placed on agent ${byName}; drain it, or take one without groups`)
  const membership = (await readGroupsOfAgents(queries, [by.id])).get(by.id)
  if (membership !== undefined)
    throw refuse(`agent ${byName} is in a group of the console; take it out of it first`)
}

function nameState(state: number): string {
  return agentStateName(state as AgentRecord['state']) // of a row
}

function refuse(message: string): FleetError {
  return new FleetError('conflict', 'agent', message)
}

interface Taking {
  readonly lost: AgentRecord
  readonly by: AgentRecord
  readonly now: number
}

async function takePlace(queries: Queries, { lost, by, now }: Taking): Promise<void> {
  const row = await findRegistered(queries, by.id)
  if (!row) return
  // Keys are unique.
  await deleteAgentRow(queries, by.id)
  await replaceAgent(
    queries,
    lost.id,
    {
      ...pickDescribed(row),
      name: lost.name,
      keyDigest: row.keyDigest,
      engineState: by.engineState,
      engineError: by.engineError,
      effectiveRevision: null,
      lockedBecause: null,
      cachePid: null,
      // Down until its first heartbeat.
      state: agentStates.Down,
    },
    now,
  )
  const { toldName, name, desiredRevision: heldRevision } = row
  await takeReportedName(queries, lost.id, { toldName: toldName ?? name, heldRevision })
  await giveStaticTags(queries, lost.id)
}

function pickDescribed(row: DescribedColumns): DescribedColumns {
  const picked = describedColumns.map((column) => [column, row[column]] as const)
  return Object.fromEntries(picked) as DescribedColumns // its own columns
}

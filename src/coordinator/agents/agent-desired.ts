/** Reads what the gateway sends to agents: desired states, many in one query, and the texts that they name. */
import { agentStates } from '../../resources/agent-state.js'
import { idleVclName, type DesiredEngine } from '../../vcl/desired-engine.js'
import { readDesiredRows } from '../fleet/agent-rows.js'
import { isSourceGranted } from '../fleet/source-grants.js'
import { findSource } from '../fleet/sources.js'
import type { StateService } from '../service.js'

export interface DesiredState {
  readonly agentId: number
  readonly desiredRevision: number
  /** One object for all agents with the same state. */
  readonly desired: DesiredEngine
  readonly recordedRevision: number | null
}

/**
 * Omits deleted agents, and agents whose desired state is not known yet: a new or unlocked cache keeps serving until
 * placement has considered it.
 */
export async function readDesiredStates(
  service: StateService,
  agentIds: readonly number[],
): Promise<DesiredState[]> {
  const rows = await readDesiredRows(service.store.queries, agentIds)
  const parsed = new Map<string, DesiredEngine>()
  return rows.flatMap(({ id, desired: text, state, awaitsPlacement, ...revisions }) => {
    // Written by registration and recomposeDesired only.
    const desired = parsed.get(text) ?? (JSON.parse(text) as DesiredEngine)
    parsed.set(text, desired)
    const isEmpty = desired.active === idleVclName && desired.load.length === 0
    const isUnseen = awaitsPlacement === 1 || state === agentStates.Locked
    return isEmpty && isUnseen ? [] : [{ agentId: id, ...revisions, desired }]
  })
}

/** Returns the text if the agent's desired state names it or if it may be compiled there, else undefined. */
export async function readSourceFor(
  service: StateService,
  agentId: number,
  sha: string,
): Promise<string | undefined> {
  const [state] = await readDesiredStates(service, [agentId])
  const { queries } = service.store
  const isWanted = state?.desired.load.some((program) => program.sha === sha) ?? false
  if (!isWanted && !(await isSourceGranted(queries, { agentId, sha }, service.now())))
    return undefined
  return (await findSource(queries, sha))?.text
}

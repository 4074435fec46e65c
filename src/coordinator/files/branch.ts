/**
 * A VCL branch of the console is a main file, each of its commits a version (docs/behaviour.md, Console VCL). Who sees one and
 * who may change it, and which caches a push of it asks whether it compiles.
 */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { chooseOfEachRelease, type CacheRelease } from '../../resources/cache-release.js'
import { mayInConsole } from '../../resources/console-role.js'
import type { Actor } from '../../resources/permission.js'

/** Where a branch belongs. */
export interface BranchLocation {
  readonly organizationId: number | null
  /** All groups that use it, of the console and of the controller. */
  readonly groupIds: readonly number[]
}

/**
 * An Admin sees those of its organization. Others see what a group of theirs uses; whoever may make branches sees also those
 * that no group uses yet, or a new one could not be brought into a group.
 */
export function seesBranch(actor: Actor, { organizationId, groupIds }: BranchLocation): boolean {
  const { console } = actor
  if (!console || console.groupIds === null) return console !== undefined
  if (organizationId !== actor.organizationId) return false
  const { groupIds: own } = console
  return groupIds.some((id) => own.has(id)) || (groupIds.length === 0 && isWriter(actor))
}

/** What others' groups use is not changed, or their next deploy would bring what they never saw. */
export function mayChangeBranch(actor: Actor, branch: BranchLocation): boolean {
  const own = actor.console?.groupIds ?? null
  return (
    isWriter(actor) &&
    seesBranch(actor, branch) &&
    (own === null || branch.groupIds.every((id) => own.has(id)))
  )
}

function isWriter(actor: Actor): boolean {
  return mayInConsole(actor, 'write')
}

export interface BranchCache {
  readonly id: number
  readonly name: string
  readonly state: AgentState
  readonly release: CacheRelease
}

/** One for each release of the engine among those that are there, the first of them. */
export function chooseCompilers<Cache extends BranchCache>(
  caches: readonly Cache[],
): readonly Cache[] {
  return chooseOfEachRelease(caches.filter(({ state }) => state === agentStates.Running))
}

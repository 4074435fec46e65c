/**
 * A VCL branch of the console is a main file, each of its commits a version (docs/behaviour.md, Console VCL). Decides which users
 * see and may change a branch, and which caches test-compile a push.
 */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { chooseOfEachRelease, type CacheRelease } from '../../resources/cache-release.js'
import { mayInConsole } from '../../resources/console-role.js'
import type { Actor } from '../../resources/permission.js'

/** The owner and the groups of a branch. */
export interface BranchLocation {
  readonly organizationId: number | null
  /** All groups that use it, of the console and of the controller. */
  readonly groupIds: readonly number[]
}

/**
 * An Admin sees the branches of its organization. Other users see branches used by one of their groups; users who may create
 * branches also see unused ones, because otherwise a new branch could not be assigned to a group.
 */
export function seesBranch(actor: Actor, { organizationId, groupIds }: BranchLocation): boolean {
  const { console } = actor
  if (!console || console.groupIds === null) return console !== undefined
  if (organizationId !== actor.organizationId) return false
  const { groupIds: own } = console
  return groupIds.some((id) => own.has(id)) || (groupIds.length === 0 && isWriter(actor))
}

/** A branch used by other users' groups may not be changed: their next deploy would contain changes they never saw. */
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

/** The first Running cache of each engine release. */
export function chooseCompilers<Cache extends BranchCache>(
  caches: readonly Cache[],
): readonly Cache[] {
  return chooseOfEachRelease(caches.filter(({ state }) => state === agentStates.Running))
}

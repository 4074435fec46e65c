/**
 * A group's desired release, its placement on one agent, and the state that the API shows for it (docs/behaviour.md, Group state).
 *
 * A placement on an agent:
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> wanted: placed
 *   wanted --> applying: instructed
 *   applying --> applied: the cache serves it
 *   applying --> failed: the cache refused it
 *   applied --> wanted: the next deploy
 *   failed --> wanted: the next deploy, reload or restart of the cache
 * ```
 */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import type { PlacedProgram } from '../../vcl/desired-engine.js'
import { deploymentStates } from '../../resources/deployment.js'
import type { DeploymentState } from './deployment.js'

/** A file with the version pinned at the deploy. */
export interface ReleaseFile {
  readonly id: number
  readonly version: number
  readonly name: string
}

/** A domain with its name at the deploy. */
export interface ReleaseDomain {
  readonly id: number
  readonly fqdn: string
}

/** The target of a stage, and what a promote applies to its group. */
export interface StageTarget {
  /** An agent must have all of them. */
  readonly tagIds: readonly number[]
  /** False: it has the group's domains, so the two are never on the same agent. */
  readonly ownDomains: boolean
  /** Version of the main file, as requested; null: each deploy takes the newest. */
  readonly mainFileVersion: number | null
}

/** The release that a deploy rolls out; JSON in `vclGroups.wish`, `deploys.sources` and `history.sources`. */
export interface Release {
  readonly mainVCL: ReleaseFile
  readonly includes: readonly ReleaseFile[]
  /** SHA-256 (hex) of the flattened text. */
  readonly sha: string
  /** Name of the VCL on the cache. */
  readonly programName: string
  /** The group's deployments at the deploy, which select its agents (docs/behaviour.md, Placement). */
  readonly deploymentIds: readonly number[]
  /** The domains that it serves; none: its VCL is the whole VCL of each cache. */
  readonly domains: readonly ReleaseDomain[]
  /** Cache releases that it may be placed on (`resources/cache-release.ts`); null: any. */
  readonly releases: readonly string[] | null
  /** Set for a stage: it has no deployments to select agents. */
  readonly stage?: StageTarget
}

/** Reads the column, which always holds such an object. Older ones have no domains or releases. */
export function parseSources(json: string): Release {
  const sources = JSON.parse(json) as Omit<Release, 'domains' | 'releases'> & Partial<Release>
  return { ...sources, domains: sources.domains ?? [], releases: sources.releases ?? null }
}

/** The program to place on an agent. */
export function programOf(
  sources: Pick<Release, 'programName' | 'sha' | 'domains'>,
): PlacedProgram {
  const { programName: name, sha, domains } = sources
  return { name, sha, fqdns: fqdnsOf(domains) }
}

/**
 * A rollback without a number goes to the newest such revision: one whose VCL differs from the deployed one, as several
 * in a row may have the same sources (a reload, a rollback). If the group is not deployed, the revision that it served last.
 */
export function isEarlierVcl(
  { sources }: { readonly sources: Release },
  deployed: Release | null,
): boolean {
  return deployed === null || !isSameVcl(sources, deployed)
}

/** The same text for the same domain names, regardless of its name on caches and of its agents. */
function isSameVcl(a: Release, b: Release): boolean {
  return a.sha === b.sha && (fqdnsOf(a.domains) ?? []).join() === (fqdnsOf(b.domains) ?? []).join()
}

/** Null without domains: a root group. */
function fqdnsOf(domains: readonly { readonly fqdn: string }[]): readonly string[] | null {
  return domains.length === 0 ? null : domains.map(({ fqdn }) => fqdn)
}

/** `applied` and `failed`: the outcome of the desired revision on the agent. */
export type PlacementState = 'wanted' | 'applying' | 'applied' | 'failed'

/** A pending candidate is shown as applying, whatever VCL serves meanwhile. */
export function shownState({
  state,
  candidateState,
}: {
  readonly state: PlacementState
  readonly candidateState: string | null
}): PlacementState {
  return candidateState === 'pending' ? 'applying' : state
}

interface PlacementCondition {
  readonly deploymentId: number
  readonly state: PlacementState
  readonly agentState: AgentState
  /** How many placements are equal to this one; omitted: one. */
  readonly count?: number
}

interface DeploymentOfGroup {
  readonly id: number
  readonly min: number
  /** An agent fits, in any state. */
  readonly anyAgentFits: boolean
}

export interface GroupCondition {
  /** Whether the group is to be deployed. */
  readonly deployed: boolean
  /** A deploy of this group is in progress. */
  readonly deploying: boolean
  readonly deployments: readonly DeploymentOfGroup[]
  readonly placements: readonly PlacementCondition[]
}

export function stateOfGroup(group: GroupCondition): DeploymentState {
  const { Active, Inactive, Degraded, Error, Orphan, Deploying } = deploymentStates
  if (group.deploying) return Deploying
  if (!group.deployed) return Inactive
  const counts = group.deployments.map((deployment) => countPlacements(group, deployment))
  const isEmpty = counts.every(({ serving, coming, trouble }) => serving + coming + trouble === 0)
  if (isEmpty && !group.deployments.some(({ anyAgentFits }) => anyAgentFits)) return Orphan
  if (counts.some(({ serving, coming, min }) => serving + coming < min)) return Error
  if (counts.some(({ trouble }) => trouble > 0))
    return counts.some(({ serving, min }) => serving < min) ? Error : Degraded
  return counts.some(({ coming }) => coming > 0) ? Deploying : Active
}

interface PlacementCounts {
  readonly min: number
  readonly serving: number
  /** Wanted or applying on a working agent. */
  readonly coming: number
  readonly trouble: number
}

function countPlacements(group: GroupCondition, { id, min }: DeploymentOfGroup): PlacementCounts {
  let [serving, coming, trouble] = [0, 0, 0]
  for (const place of group.placements) {
    if (place.deploymentId !== id) continue
    const count = place.count ?? 1
    if (isInTrouble(place)) trouble += count
    else if (place.state === 'applied') serving += count
    else coming += count
  }
  return { min, serving, coming, trouble }
}

/**
 * A cache that does not respond (Failing) or must not be changed (Locked) is shown as failed, though
 * no placement moves because of it: it does not serve the desired VCL, or that is unknown.
 */
function isInTrouble({ state, agentState }: PlacementCondition): boolean {
  return state === 'failed' || isAgentInTrouble(agentState)
}

export function isAgentInTrouble(agentState: AgentState): boolean {
  const { Down, Failing, Locked } = agentStates
  return [Down, Failing, Locked].some((trouble) => trouble === agentState)
}

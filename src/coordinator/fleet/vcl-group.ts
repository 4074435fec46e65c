/**
 * A group's desired release, its placement on one agent, and the state that the API shows for it (docs/behaviour.md, Group state).
 *
 * A place on an agent:
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

/** A file at the version that was pinned at the deploy. */
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

/** Whom a stage is for, and what its group gets by a promote. */
export interface StageTarget {
  /** All of them are needed. */
  readonly tagIds: readonly number[]
  /** False: its domains are the group's, so the two are never on one agent. */
  readonly ownDomains: boolean
  /** Of the main file, as it was asked for; null: the newest at each deploy. */
  readonly mainFileVersion: number | null
}

/** What a deploy puts on caches; JSON in `vclGroups.wish`, `deploys.sources` and `history.sources`. */
export interface Release {
  readonly mainVCL: ReleaseFile
  readonly includes: readonly ReleaseFile[]
  /** SHA-256 (hex) of the flattened text. */
  readonly sha: string
  /** The name on the cache. */
  readonly programName: string
  /** Who may hold it: the group's deployments at the deploy (docs/behaviour.md, Placement). */
  readonly deploymentIds: readonly number[]
  /** What it answers for; none: its VCL is the whole VCL of each cache. */
  readonly domains: readonly ReleaseDomain[]
  /** Of the cache, that it may go to (`resources/cache-release.ts`); null: any. */
  readonly releases: readonly string[] | null
  /** They are staged: no deployments say where. */
  readonly stage?: StageTarget
}

/** Reads the column, which is written from such an object only. Earlier ones had no domains or releases. */
export function parseSources(json: string): Release {
  const sources = JSON.parse(json) as Omit<Release, 'domains' | 'releases'> & Partial<Release>
  return { ...sources, domains: sources.domains ?? [], releases: sources.releases ?? null }
}

/** As it is placed on an agent. */
export function programOf(
  sources: Pick<Release, 'programName' | 'sha' | 'domains'>,
): PlacedProgram {
  const { programName: name, sha, domains } = sources
  return { name, sha, fqdns: fqdnsOf(domains) }
}

/**
 * Where a rollback without a number goes is the newest such revision: one that puts something else on caches than what is deployed now,
 * since several in a row may be of the same sources (a reload, a rollback). Of a group that is not deployed, what it served last.
 */
export function isEarlierVcl(
  { sources }: { readonly sources: Release },
  deployed: Release | null,
): boolean {
  return deployed === null || !isSameVcl(sources, deployed)
}

/** The same text for the same names, whatever it is called on caches and whichever agents have it. */
function isSameVcl(a: Release, b: Release): boolean {
  return a.sha === b.sha && (fqdnsOf(a.domains) ?? []).join() === (fqdnsOf(b.domains) ?? []).join()
}

/** Null without domains: a root group. */
function fqdnsOf(domains: readonly { readonly fqdn: string }[]): readonly string[] | null {
  return domains.length === 0 ? null : domains.map(({ fqdn }) => fqdn)
}

/** `applied` and `failed` tell how the wanted revision ended on the agent. */
export type PlacementState = 'wanted' | 'applying' | 'applied' | 'failed'

/** A candidate on its way shows, whatever serves meanwhile. */
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
  /** How many places are like this; left out: one. */
  readonly count?: number
}

interface DeploymentOfGroup {
  readonly id: number
  readonly min: number
  /** In whatever state it is. */
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
  /** Wanted or applying on an agent that can do it. */
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
 * A cache that does not answer (Failing), or that nobody may change (Locked), is shown as failed, though
 * nothing is moved for it: what it serves is not what is wanted, or nobody knows.
 */
function isInTrouble({ state, agentState }: PlacementCondition): boolean {
  return state === 'failed' || isAgentInTrouble(agentState)
}

export function isAgentInTrouble(agentState: AgentState): boolean {
  const { Down, Failing, Locked } = agentStates
  return [Down, Failing, Locked].some((trouble) => trouble === agentState)
}

/** The tables of where groups and their stages stand (`schema.ts`). */

type Flag = 0 | 1

/** A group's place on an agent: what serves, what is being loaded, what served before. */
export interface PlacementsTable {
  groupId: number
  agentId: number
  organizationId: number | null
  /** Null: a stage's. */
  deploymentId: number | null
  /** Order of placement; the highest leaves first. */
  position: number
  state: string
  /** Group revision that is wanted here. */
  wantedRevision: number
  /** Group revision that serves here; null before the first switch. */
  appliedRevision: number | null
  currentName: string | null
  currentSha: string | null
  candidateName: string | null
  candidateSha: string | null
  /** 'pending', 'loaded' or 'failed' while there is a candidate. */
  candidateState: string | null
  previousName: string | null
  previousSha: string | null
  /** JSON arrays of the names that each VCL answers for; null: a root group's, or no VCL. */
  currentFqdns: string | null
  candidateFqdns: string | null
  previousFqdns: string | null
  error: string | null
  deployedAt: number | null
  /** The agent went Down with most of the fleet: the place is not given to another. */
  keptDown: Flag
  /** It is that of the group's stage, which may stand beside the group's own. */
  stage: Flag
  /** The agent fits no more: the place goes, whether or not what takes it serves there. */
  leaving: Flag
  /** The group that takes this place when it switches here; null: none. */
  replacedBy: number | null
}

/** What is staged of a group; at most one each. */
export interface StagesTable {
  groupId: number
  organizationId: number | null
  /** Counts what was staged since the last promote or delstage, from 1. */
  revision: number
  /** JSON of StagedSources. */
  sources: string
  /** Theirs, so that unused sources are found. */
  sha: string
  stagedAt: number
}

/** What a stage, or one on its way, refers to: one of the three a row. It is not deleted meanwhile. */
export interface StageUsesTable {
  groupId: number
  tagId: number | null
  fileId: number | null
  domainId: number | null
}

/** The names that a place takes on its agent, for what serves and what is being loaded: each at most once on an agent. */
export interface PlacementDomainsTable {
  agentId: number
  fqdn: string
  groupId: number
  stage: Flag
}

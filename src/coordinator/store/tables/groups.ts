/** VCL groups, their placements, stages and deploys; settings made on caches for some of them. */
import { managedBy } from './fleet.js'
import { flag, id, index, indexWhere, integer, nameIndexes, owner, table } from './table.js'
import { text, times, unique } from './table.js'

const ofGroup = () => integer().references('vclGroups', 'cascade')

export const groupTables = {
  vclGroups: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      root: flag(),
      keepOnFailure: flag(),
      requireTests: flag().default(0),
      /** JSON array: the cache releases that it may be placed on; null: any. */
      releases: text().orNull(),
      /** Null: a group of the console without VCL. */
      mainFileId: integer().references('files').orNull(),
      /** Null: each deploy takes the newest. */
      mainFileVersion: integer().orNull(),
      /** It should serve. */
      deployed: flag(),
      /** The newest revision that caches switched to; 0 before the first. */
      revision: integer(),
      /** JSON of Release: what a deployed group should serve, pinned at its deploy; null when not deployed. */
      wish: text().orNull(),
      /** Its sha, for finding unused sources. */
      wishSha: text().orNull(),
      /** A pending deploy: accepted although too few agents were available; it runs as soon as enough are. */
      wishPending: flag(),
      /** Random, 32 hexadecimal digits: keeps its objects apart from other groups' on one cache. */
      cacheKey: text().default(''),
      managedBy: managedBy(),
      /** A group of the console (`console.ts`). */
      console: flag().default(0),
      /** JSON of RolloutPolicy: how its deploys switch; null: all agents at once. */
      rollout: text().orNull(),
      ...times,
    },
    { indexes: { ...nameIndexes, mainFile: index('mainFileId') } },
  ),

  /** The health to set on backends of this name, in all managed VCLs or in those of some groups. */
  agentBackends: table(
    {
      agentId: integer().references('agents', 'cascade'),
      /** Null: any organization, or a group of the system administrator. */
      organizationId: owner('cascade'),
      /** Null: every group of the organization. */
      groupId: ofGroup().orNull(),
      backend: text(),
      /** 'healthy', 'sick' or 'auto': an exception to a broader rule. */
      health: text(),
    },
    {
      indexes: {
        rule: unique(
          'agentId',
          'backend',
          'coalesce("organizationId", 0)',
          'coalesce("groupId", 0)',
        ),
        organization: index('organizationId'),
        group: index('groupId'),
      },
    },
  ),
}

export const placementTables = {
  vclGroupIncludes: table(
    { groupId: ofGroup(), fileId: integer().references('files'), position: integer() },
    { primaryKey: ['groupId', 'fileId'], indexes: { file: index('fileId') } },
  ),

  vclGroupTests: table(
    { groupId: ofGroup(), fileId: integer().references('files'), position: integer() },
    { primaryKey: ['groupId', 'fileId'], indexes: { file: index('fileId') } },
  ),

  vclGroupDeployments: table(
    { groupId: ofGroup(), deploymentId: integer().references('deployments'), position: integer() },
    { primaryKey: ['groupId', 'deploymentId'], indexes: { deployment: index('deploymentId') } },
  ),

  /** The agents of a group of the console, named individually; each agent is in at most one such group. */
  groupMembers: table(
    { agentId: integer().references('agents', 'cascade').primaryKey(), groupId: ofGroup() },
    { indexes: { group: index('groupId') } },
  ),

  vclGroupDomains: table(
    { groupId: ofGroup(), domainId: integer().references('domains'), position: integer() },
    { primaryKey: ['groupId', 'domainId'], indexes: { domain: index('domainId') } },
  ),

  /** A group's placement on an agent: the VCL that serves, the one being loaded, the one that served before. */
  placements: table(
    {
      groupId: integer().references('vclGroups'),
      agentId: integer().references('agents', 'cascade'),
      organizationId: owner(),
      /** Null: a stage's placement, or that of a group whose agents are named individually. */
      deploymentId: integer().references('deployments').orNull(),
      /** Order of placement; the highest is removed first. */
      position: integer(),
      state: text(),
      /** Group revision desired here. */
      wantedRevision: integer(),
      /** Group revision that serves here; null before the first switch. */
      appliedRevision: integer().orNull(),
      currentName: text().orNull(),
      currentSha: text().orNull(),
      candidateName: text().orNull(),
      candidateSha: text().orNull(),
      /** 'pending', 'loaded' or 'failed' while there is a candidate. */
      candidateState: text().orNull(),
      previousName: text().orNull(),
      previousSha: text().orNull(),
      /** JSON arrays of the domain names that each VCL serves; null: a root group's, or no VCL. */
      currentFqdns: text().orNull(),
      candidateFqdns: text().orNull(),
      previousFqdns: text().orNull(),
      error: text().orNull(),
      deployedAt: integer().orNull(),
      /** The agent went Down with most of the fleet: the placement does not move to another agent. */
      keptDown: flag(),
      /** The placement of the group's stage, which may exist beside the group's own. */
      stage: flag(),
      /** The agent no longer fits: the placement is removed, whether or not its replacement serves there. */
      leaving: flag(),
      /** The group that takes over this placement when it switches here; null: none. */
      replacedBy: integer().orNull(),
    },
    {
      primaryKey: ['groupId', 'agentId', 'stage'],
      indexes: {
        agent: index('agentId'),
        deployment: index('deploymentId'),
        /** Queried at each decision; usually there are no such rows. */
        replaced: indexWhere('"replacedBy" is not null', 'replacedBy'),
      },
    },
  ),

  /** The domain names that a placement claims on its agent, serving or being loaded: each at most once per agent. */
  placementDomains: table(
    { agentId: integer(), fqdn: text(), groupId: integer(), stage: flag() },
    {
      primaryKey: ['agentId', 'fqdn'],
      constraints: [
        `foreign key ("groupId", "agentId", stage)
          references placements ("groupId", "agentId", stage) on delete cascade`,
      ],
      indexes: { place: index('groupId', 'stage', 'agentId'), fqdn: index('fqdn') },
    },
  ),

  /** The stage of a group; at most one per group. */
  stages: table(
    {
      groupId: ofGroup().primaryKey(),
      organizationId: owner(),
      /** Counts the stages since the last promote or delstage, from 1. */
      revision: integer(),
      /** JSON of StagedSources. */
      sources: text(),
      /** Sha of the sources, for finding unused ones. */
      sha: text(),
      stagedAt: integer(),
    },
    { indexes: { organization: index('organizationId') } },
  ),

  /** Objects that a stage, or one in progress, refers to: one of the three per row. They cannot be deleted meanwhile. */
  stageUses: table(
    {
      groupId: ofGroup(),
      tagId: integer().references('tags').orNull(),
      fileId: integer().references('files').orNull(),
      domainId: integer().references('domains').orNull(),
    },
    {
      indexes: {
        group: index('groupId'),
        tag: index('tagId'),
        file: index('fileId'),
        domain: index('domainId'),
      },
    },
  ),

  /** A deploy in progress: written before the first instruction, deleted with its history entry. At most one per group. */
  deploys: table({
    id: id(),
    groupId: integer().references('vclGroups').unique(),
    organizationId: owner(),
    action: text(),
    /** The group's revision after the switch. */
    revision: integer(),
    /** JSON of Release. */
    sources: text(),
    /** Sha of the sources, for finding unused ones; empty when they could not be flattened. */
    sha: text(),
    traceId: text(),
    account: text(),
    startedAt: integer(),
    /** The coordinator process that runs it. */
    owner: text().default(''),
    /** Counts its owners: late writes of an earlier owner are refused. */
    epoch: integer().default(0),
    /** Renewed by the owner; after it expires, any coordinator that notices ends the deploy. */
    leaseExpiresAt: integer().default(0),
    /** The rollout that is its second phase; null: all agents switch at once. */
    rolloutId: integer().orNull(),
  }),

  history: table(
    {
      id: id(),
      groupId: ofGroup(),
      organizationId: owner(),
      /** Null: a failed deploy. */
      revision: integer().orNull(),
      at: integer(),
      account: text(),
      action: text(),
      /** 'ok' or the error text. */
      result: text(),
      /** JSON of Release. */
      sources: text(),
      /** Sha of the sources, for finding unused ones; empty when they could not be flattened. */
      sha: text(),
      /** JSON of NamedReference[]: the groups whose placements it took over. */
      replaced: text().orNull(),
      /** JSON of NamedReference: the group that took over its last placement. */
      replacedBy: text().orNull(),
      /** The deploy that ended with this entry; null: the action started no deploy. */
      deployId: integer().orNull(),
    },
    {
      indexes: {
        group: index('groupId', 'id'),
        at: index('at'),
        organization: index('organizationId', 'at'),
      },
    },
  ),

  /** The coordinator that runs a periodic task now; `epoch` counts the holders. */
  leases: table({
    name: text().primaryKey(),
    /** A coordinator process. */
    holder: text(),
    epoch: integer(),
    expiresAt: integer(),
  }),
}

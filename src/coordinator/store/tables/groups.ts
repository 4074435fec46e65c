/** VCL groups, where they and their stages stand, how they were deployed; what is set on caches for some of them. */
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
      /** JSON array: the releases of the cache that it may go to; null: any. */
      releases: text().orNull(),
      /** Null: a console's group without VCL. */
      mainFileId: integer().references('files').orNull(),
      /** Null: the newest at each deploy. */
      mainFileVersion: integer().orNull(),
      /** It should serve. */
      deployed: flag(),
      /** The newest revision that was switched to; 0 before the first. */
      revision: integer(),
      /** JSON of Release: what a deployed group should serve, pinned at its deploy; null when not deployed. */
      wish: text().orNull(),
      /** Its sha, so that unused sources are found. */
      wishSha: text().orNull(),
      /** The deploy was accepted although too few agents were available: it runs as soon as enough are. */
      wishPending: flag(),
      /** Random, 32 hexadecimal digits: keeps its objects apart from other groups' on one cache. */
      cacheKey: text().default(''),
      managedBy: managedBy(),
      /** It is a group of the console (`console.ts`). */
      console: flag().default(0),
      /** JSON of RolloutPolicy: how its deploys switch; null: all at once. */
      rollout: text().orNull(),
      ...times,
    },
    { indexes: { ...nameIndexes, mainFile: index('mainFileId') } },
  ),

  /** The health that backends of this name must be set to, in all VCLs of ours or in those of some groups. */
  agentBackends: table(
    {
      agentId: integer().references('agents', 'cascade'),
      /** Null: of any organization, or a system administrator's group. */
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

  /** The agents of a group of the console, named one by one; each is in one such group at most. */
  groupMembers: table(
    { agentId: integer().references('agents', 'cascade').primaryKey(), groupId: ofGroup() },
    { indexes: { group: index('groupId') } },
  ),

  vclGroupDomains: table(
    { groupId: ofGroup(), domainId: integer().references('domains'), position: integer() },
    { primaryKey: ['groupId', 'domainId'], indexes: { domain: index('domainId') } },
  ),

  /** A group's place on an agent: what serves, what is being loaded, what served before. */
  placements: table(
    {
      groupId: integer().references('vclGroups'),
      agentId: integer().references('agents', 'cascade'),
      organizationId: owner(),
      /** Null: a stage's, or of a group whose agents are named one by one. */
      deploymentId: integer().references('deployments').orNull(),
      /** Order of placement; the highest leaves first. */
      position: integer(),
      state: text(),
      /** Group revision that is wanted here. */
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
      /** JSON arrays of the names that each VCL answers for; null: a root group's, or no VCL. */
      currentFqdns: text().orNull(),
      candidateFqdns: text().orNull(),
      previousFqdns: text().orNull(),
      error: text().orNull(),
      deployedAt: integer().orNull(),
      /** The agent went Down with most of the fleet: the place is not given to another. */
      keptDown: flag(),
      /** It is that of the group's stage, which may stand beside the group's own. */
      stage: flag(),
      /** The agent fits no more: the place goes, whether or not what takes it serves there. */
      leaving: flag(),
      /** The group that takes this place when it switches here; null: none. */
      replacedBy: integer().orNull(),
    },
    {
      primaryKey: ['groupId', 'agentId', 'stage'],
      indexes: {
        agent: index('agentId'),
        deployment: index('deploymentId'),
        /** Asked at each decision, and mostly there is none. */
        replaced: indexWhere('"replacedBy" is not null', 'replacedBy'),
      },
    },
  ),

  /** The names that a place takes on its agent, for what serves and what is being loaded: each at most once on an agent. */
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

  /** What is staged of a group; at most one each. */
  stages: table(
    {
      groupId: ofGroup().primaryKey(),
      organizationId: owner(),
      /** Counts what was staged since the last promote or delstage, from 1. */
      revision: integer(),
      /** JSON of StagedSources. */
      sources: text(),
      /** Theirs, so that unused sources are found. */
      sha: text(),
      stagedAt: integer(),
    },
    { indexes: { organization: index('organizationId') } },
  ),

  /** What a stage, or one on its way, refers to: one of the three a row. It is not deleted meanwhile. */
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

  /** A deploy in progress: written before the first instruction, deleted with its history entry. One a group at a time. */
  deploys: table({
    id: id(),
    groupId: integer().references('vclGroups').unique(),
    organizationId: owner(),
    action: text(),
    /** The revision that the switch makes. */
    revision: integer(),
    /** JSON of Release. */
    sources: text(),
    /** Theirs, so that unused sources are found; empty when they could not be flattened. */
    sha: text(),
    traceId: text(),
    account: text(),
    startedAt: integer(),
    /** The coordinator process that runs it. */
    owner: text().default(''),
    /** Counts its owners: what an earlier one still wants to write is refused. */
    epoch: integer().default(0),
    /** The owner prolongs it; when it is over, whoever notices ends the deploy. */
    leaseExpiresAt: integer().default(0),
    /** Its second phase is this rollout; null: all switch at once. */
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
      /** Theirs, so that unused sources are found; empty when they could not be flattened. */
      sha: text(),
      /** JSON of NamedReference[]: whose places it took. */
      replaced: text().orNull(),
      /** JSON of NamedReference: who took its last place. */
      replacedBy: text().orNull(),
      /** The deploy that it is the end of; null: what began none. */
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

  /** Who runs a periodic task now; `epoch` counts the holders. */
  leases: table({
    name: text().primaryKey(),
    /** A coordinator process. */
    holder: text(),
    epoch: integer(),
    expiresAt: integer(),
  }),
}

/** Agents, and the objects that users create for them: tags, files, deployments, domains. Groups: `groups.ts`. */
import { ofOwner, flag, id, index, indexWhere, integer, nameIndexes, owner } from './table.js'
import { table, text, times, unique } from './table.js'

const ofAgent = () => integer().references('agents', 'cascade')
/** The `cachefleet apply` set that created or adopted it, so that another machine prunes the same; null: none. */
export const managedBy = () => text().orNull()

export const agentTables = {
  agents: table(
    {
      id: id(),
      organizationId: owner(),
      name: text().unique(),
      keyDigest: text().unique(),
      state: integer(),
      engineState: text(),
      engineError: text().orNull(),
      engineHost: text(),
      enginePort: integer(),
      /** Empty until the agent has reached its cache, and with an agent of an earlier version. */
      engineProduct: text().default(''),
      engineVersion: text(),
      engineWorkingDirectory: text().orNull(),
      /** From the banner; empty if unknown. */
      engineRevision: text().default(''),
      /** Of the agent's machine; empty with an agent of an earlier version. */
      hostName: text().default(''),
      agentVersion: text(),
      /** JSON array of capabilities. */
      capabilities: text(),
      lockedBecause: text().orNull(),
      ...times,
      /** Of the last heartbeat that wrote this row; later ones: `heartbeats`. */
      lastHeartbeatAt: integer(),
      lastStateChangeAt: integer(),
      /** The newest desired state: its revision and content (JSON of DesiredEngine). */
      desiredRevision: integer(),
      desired: text(),
      attemptedRevision: integer().orNull(),
      attemptedResult: text().orNull(),
      attemptedError: text().orNull(),
      attemptedAt: integer().orNull(),
      effectiveRevision: integer().orNull(),
      /** The newest revision reported as applied. */
      recordedRevision: integer().orNull(),
      /** Of the cache's manager process, as last reported by the agent. */
      cachePid: integer().orNull(),
      /** Set when the reported pid differs from the last one: what failed there is retried. */
      cacheRestarted: flag().default(0),
      /** The VCL that its cache runs is still to be adopted: no group is placed there meanwhile. */
      adopting: flag().default(0),
      /** New or just unlocked: an empty desired state is not sent before placement has considered the agent. */
      awaitsPlacement: flag().default(0),
      /** JSON of AdoptionRecord; null: it never requested adoption. */
      adoption: text().orNull(),
      /** Unified diff of the adopted VCL against the group that it was to join; null: no difference. */
      adoptionDifference: text().orNull(),
      /** JSON of HeldCache, while it is locked; null: not locked, or nothing is known about its cache. */
      held: text().orNull(),
      /** JSON of the last Drift. */
      drift: text().orNull(),
      /** Set in the console; null: the generated one. */
      consoleName: text().orNull(),
      /** Set in the console. */
      description: text().default(''),
      /** The valid link, as several coordinators may have one; null: none was claimed. */
      linkId: text().orNull(),
      /** Why its agent cannot read the cache's log, if that can be fixed; null: it can, or reported nothing. */
      logTrouble: text().orNull(),
      /** JSON of DrainRecord; null: not drained. */
      draining: text().orNull(),
      /** The agent's own name, if it replaced another agent and took its name; null: same as `name`. */
      toldName: text().orNull(),
    },
    {
      indexes: {
        organization: index('organizationId'),
        state_since: index('state', 'lastStateChangeAt'),
        /** Queried at each decision, usually without a match: it must not read the whole fleet. */
        unplaced: indexWhere('"awaitsPlacement" = 1', 'id'),
        draining: indexWhere('"draining" is not null', 'id'),
      },
    },
  ),

  /** When the last heartbeat without changes arrived, if it is newer than `lastHeartbeatAt` of the agent. */
  heartbeats: table({ agentId: ofAgent().primaryKey(), at: integer() }),

  /** A parameter that the cache must be set to. */
  agentParams: table(
    { agentId: ofAgent(), name: text(), value: text() },
    { primaryKey: ['agentId', 'name'] },
  ),

  /** Lets an agent fetch, for a limited time, a source that its desired state does not name. */
  sourceGrants: table(
    { agentId: ofAgent(), sha: text(), expiresAt: integer() },
    { primaryKey: ['agentId', 'sha'] },
  ),

  /** The generated VCLs that an agent's desired state names, for finding unused sources. */
  agentRoutings: table(
    { agentId: ofAgent(), sha: text() },
    { primaryKey: ['agentId', 'sha'], indexes: { sha: index('sha') } },
  ),
}

export const fileTables = {
  files: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      contentType: text(),
      encoded: flag(),
      fileType: integer(),
      /** Version number of the head: the newest, or an earlier one that the console moved the head back to. */
      version: integer(),
      /** SHA-256 (hex) over the decoded bytes of the head. */
      sha: text(),
      managedBy: managedBy(),
      /** Description of a branch in the console. */
      description: text().default(''),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  /** Immutable: versions are only deleted, together with their file. */
  fileVersions: table(
    {
      fileId: integer().references('files', 'cascade'),
      organizationId: owner(),
      version: integer(),
      /** As sent by the caller: text, or base64 when encoded. */
      source: text(),
      encoded: flag(),
      contentType: text(),
      sha: text(),
      /** Name of the account that created it. */
      account: text(),
      createdAt: integer(),
      /** Size of the source as stored. */
      bytes: integer().default(0),
    },
    {
      primaryKey: ['fileId', 'version'],
      // Without it, finding the sizes would read the texts stored before them.
      indexes: { bytes: index('fileId', 'bytes') },
    },
  ),

  /** Flattened texts by their SHA-256; deleted when no placement, release or history entry names them. */
  sources: table({
    sha: text().primaryKey(),
    text: text(),
    /** JSON of the source map: flattened line → file and line. */
    sourceMap: text(),
    /** Counts the loads of this text: the `n` in `cf-<group id>-<sha8>-<n>`. */
    loads: integer(),
    createdAt: integer(),
  }),

  /** The domains that groups serve. */
  domains: table(
    {
      id: id(),
      organizationId: owner(),
      /** Lower case, ASCII, optionally with a `*.` prefix. */
      fqdn: text(),
      managedBy: managedBy(),
      ...times,
    },
    { indexes: { fqdn: unique(ofOwner, 'fqdn'), organization: index('organizationId', 'fqdn') } },
  ),
}

export const deploymentTables = {
  tags: table(
    { id: id(), organizationId: owner(), name: text(), managedBy: managedBy(), ...times },
    { indexes: nameIndexes },
  ),

  agentTags: table(
    {
      agentId: ofAgent(),
      tagId: integer().references('tags', 'cascade'),
      /** Reported by the agent itself. */
      static: flag(),
      /** Assigned through the API. */
      assigned: flag(),
    },
    { primaryKey: ['agentId', 'tagId'], indexes: { tag: index('tagId') } },
  ),

  deployments: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      min: integer(),
      max: integer(),
      managedBy: managedBy(),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  deploymentTags: table(
    {
      deploymentId: integer().references('deployments', 'cascade'),
      tagId: integer().references('tags'),
    },
    { primaryKey: ['deploymentId', 'tagId'], indexes: { tag: index('tagId') } },
  ),
}

/** Agents, and what users make to serve on them: tags, files, deployments, domains. Groups: `groups.ts`. */
import { ofOwner, flag, id, index, indexWhere, integer, nameIndexes, owner } from './table.js'
import { table, text, times, unique } from './table.js'

const ofAgent = () => integer().references('agents', 'cascade')
/** The set of `cachefleet apply` that made or took it, so that another machine prunes the same; null: nobody's. */
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
      /** Empty until its cache was reached, and from an agent of an earlier version. */
      engineProduct: text().default(''),
      engineVersion: text(),
      engineWorkingDirectory: text().orNull(),
      /** From the banner; empty where it is not known. */
      engineRevision: text().default(''),
      /** Of its machine; empty from an agent of an earlier version. */
      hostName: text().default(''),
      agentVersion: text(),
      /** JSON array of capabilities. */
      capabilities: text(),
      lockedBecause: text().orNull(),
      ...times,
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
      /** The newest revision of which a report says that it is applied. */
      recordedRevision: integer().orNull(),
      /** Of the cache's manager, as the agent told it last. */
      cachePid: integer().orNull(),
      /** Set when another one was told than before: what failed there is tried again. */
      cacheRestarted: flag().default(0),
      /** The VCL that its cache runs shall be adopted and was not yet: no group is placed there meanwhile. */
      adopting: flag().default(0),
      /** It is new or was unlocked: a desired state of nothing is not sent before placement has considered it. */
      awaitsPlacement: flag().default(0),
      /** JSON of AdoptionRecord; null: it never asked for one. */
      adoption: text().orNull(),
      /** Unified text: what was adopted against the group that it was to join; null: there is none. */
      adoptionDifference: text().orNull(),
      /** JSON of HeldCache, while it is locked; null: not locked, or nothing is known of its cache. */
      held: text().orNull(),
      /** JSON of Drift, the last one. */
      drift: text().orNull(),
      /** Given in the console; null: the composed one. */
      consoleName: text().orNull(),
      /** Given in the console. */
      description: text().default(''),
      /** The link that counts, where several coordinators may have one; null: none was claimed. */
      linkId: text().orNull(),
      /** Why its agent cannot read the cache's log, where that can be mended; null: it can, or did not say. */
      logTrouble: text().orNull(),
      /** JSON of DrainRecord; null: it is not drained. */
      draining: text().orNull(),
      /** What its agent calls itself, where it took the place and the name of another; null: what it is called. */
      toldName: text().orNull(),
    },
    {
      indexes: {
        organization: index('organizationId'),
        state_since: index('state', 'lastStateChangeAt'),
        /** Asked at each decision, and mostly there is none: the whole fleet must not be read for it. */
        unplaced: indexWhere('"awaitsPlacement" = 1', 'id'),
        draining: indexWhere('"draining" is not null', 'id'),
      },
    },
  ),

  /** A parameter that the cache must be set to. */
  agentParams: table(
    { agentId: ofAgent(), name: text(), value: text() },
    { primaryKey: ['agentId', 'name'] },
  ),

  /** For a while an agent may fetch a source that its desired state does not name. */
  sourceGrants: table(
    { agentId: ofAgent(), sha: text(), expiresAt: integer() },
    { primaryKey: ['agentId', 'sha'] },
  ),

  /** The generated VCLs that an agent's desired state names, so that unused sources are found. */
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
      /** The head's number: the newest version, or an earlier one that the console moved the head back to. */
      version: integer(),
      /** SHA-256 (hex) over the decoded bytes of the head. */
      sha: text(),
      managedBy: managedBy(),
      /** Of a branch of the console. */
      description: text().default(''),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  /** Immutable: a version is never changed, only deleted with its file. */
  fileVersions: table(
    {
      fileId: integer().references('files', 'cascade'),
      organizationId: owner(),
      version: integer(),
      /** As the caller gave it: text, or base64 when encoded. */
      source: text(),
      encoded: flag(),
      contentType: text(),
      sha: text(),
      /** Name of the account that made it. */
      account: text(),
      createdAt: integer(),
      /** Of the source, as it is kept. */
      bytes: integer().default(0),
    },
    {
      primaryKey: ['fileId', 'version'],
      // Without it the texts of a file's versions are read to find their sizes behind them.
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

  /** What groups answer for. */
  domains: table(
    {
      id: id(),
      organizationId: owner(),
      /** Lower case, ASCII, maybe `*.` before it. */
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
      /** Sent by the agent itself. */
      static: flag(),
      /** Given through the API. */
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

/**
 * The tables, as both databases have them. Times are integer milliseconds since 1970, flags 0 or 1, JSON is text;
 * the query files convert (`fromRow`). `organizationId` null is the system administrator's own, or shared.
 */
import type { Generated } from 'kysely'

type Flag = 0 | 1

/** One row: who this coordinator is, kept for the life of the store. */
export interface SettingsTable {
  name: string
  value: string
}

export interface OrganizationsTable {
  id: Generated<number>
  name: string
  accessTtlSeconds: number
  refreshTtlSeconds: number
  locked: Flag
  createdAt: number
  updatedAt: number
}

export interface AccountsTable {
  id: Generated<number>
  name: string
  /** argon2id, in its own encoding. */
  passwordHash: string
  email: string
  locked: Flag
  systemAdministrator: Flag
  createdAt: number
  updatedAt: number
}

export interface SessionsTable {
  id: Generated<number>
  accountId: number
  organizationId: number | null
  label: string
  /** SHA-256 (hex) of the refresh token in force. */
  refreshDigest: string
  createdAt: number
  lastUsedAt: number
  accessExpiresAt: number
  refreshExpiresAt: number
}

export interface SigningKeysTable {
  /** Key id in the JWT header. */
  kid: string
  /** JWK (JSON). */
  publicJwk: string
  /** Private JWK, sealed with the secret key. */
  sealedPrivateJwk: string
  createdAt: number
}

export interface JoinTokensTable {
  id: Generated<number>
  organizationId: number | null
  label: string
  digest: string
  expiresAt: number | null
  maxUses: number
  uses: number
  /** Assigned to each agent that enrols: JSON array of tag ids. */
  tagIds: string
  createdAt: number
}

export interface AgentsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  keyDigest: string
  state: number
  engineState: string
  engineError: string | null
  engineHost: string
  enginePort: number
  engineVersion: string
  engineWorkingDirectory: string | null
  agentVersion: string
  /** JSON array of capabilities. */
  capabilities: string
  lockedBecause: string | null
  createdAt: number
  updatedAt: number
  lastHeartbeatAt: number
  lastStateChangeAt: number
  /** The newest desired state: its revision and content (JSON of DesiredEngine). */
  desiredRevision: number
  desired: string
  attemptedRevision: number | null
  attemptedResult: string | null
  attemptedError: string | null
  attemptedAt: number | null
  effectiveRevision: number | null
  /** JSON of Drift, the last one. */
  drift: string | null
}

export interface TagsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  createdAt: number
  updatedAt: number
}

export interface AgentTagsTable {
  agentId: number
  tagId: number
  /** Sent by the agent itself. */
  static: Flag
  /** Given through the API. */
  assigned: Flag
}

export interface FilesTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  contentType: string
  encoded: Flag
  fileType: number
  /** The newest version's number. */
  version: number
  /** SHA-256 (hex) over the decoded bytes of the newest version. */
  sha: string
  createdAt: number
  updatedAt: number
}

/** Immutable: a version is never changed, only deleted with its file. */
export interface FileVersionsTable {
  fileId: number
  organizationId: number | null
  version: number
  /** As the caller gave it: text, or base64 when encoded. */
  source: string
  encoded: Flag
  contentType: string
  sha: string
  /** Name of the account that made it. */
  account: string
  createdAt: number
}

export interface DeploymentsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  min: number
  max: number
  createdAt: number
  updatedAt: number
}

export interface DeploymentTagsTable {
  deploymentId: number
  tagId: number
}

export interface VclGroupsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  root: Flag
  keepOnFailure: Flag
  mainFileId: number
  /** Null: the newest at each deploy. */
  mainFileVersion: number | null
  /** The wish. */
  deployed: Flag
  /** The newest revision that was switched to; 0 before the first. */
  revision: number
  /** JSON of WishedSources: what a deployed group should serve, pinned at its deploy; null when not deployed. */
  wish: string | null
  /** Its sha, so that unused sources are found. */
  wishSha: string | null
  /** The wish was kept although too few agents were available: it is deployed as soon as enough are. */
  wishPending: Flag
  createdAt: number
  updatedAt: number
}

export interface VclGroupIncludesTable {
  groupId: number
  fileId: number
  position: number
}

export interface VclGroupDeploymentsTable {
  groupId: number
  deploymentId: number
  position: number
}

/** Flattened texts by their SHA-256; deleted when no placement, wish or history entry names them. */
export interface SourcesTable {
  sha: string
  text: string
  /** JSON of the source map: flattened line → file and line. */
  sourceMap: string
  /** Counts the loads of this text: the `n` in `cf-<group id>-<sha8>-<n>`. */
  loads: number
  createdAt: number
}

/** For a while an agent may fetch a source that its desired state does not name. */
export interface SourceGrantsTable {
  agentId: number
  sha: string
  expiresAt: number
}

/** A group's place on an agent: what serves, what is being loaded, what served before. */
export interface PlacementsTable {
  groupId: number
  agentId: number
  organizationId: number | null
  deploymentId: number
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
  error: string | null
  deployedAt: number | null
}

/** A deploy in progress: written before the first instruction, deleted with its history entry. */
export interface DeploysTable {
  id: Generated<number>
  groupId: number
  organizationId: number | null
  action: string
  /** The revision that the switch makes. */
  revision: number
  /** JSON of WishedSources. */
  sources: string
  /** Theirs, so that unused sources are found; empty when they could not be flattened. */
  sha: string
  traceId: string
  account: string
  startedAt: number
}

export interface HistoryTable {
  id: Generated<number>
  groupId: number
  organizationId: number | null
  /** Null: a failed deploy. */
  revision: number | null
  at: number
  account: string
  action: string
  /** 'ok' or the error text. */
  result: string
  /** JSON of WishedSources. */
  sources: string
  /** Theirs, so that unused sources are found; empty when they could not be flattened. */
  sha: string
}

export interface ApiLogsTable {
  id: Generated<number>
  organizationId: number | null
  createdAt: number
  severity: number
  msg: string
  keyType: string
  keyId: number | null
  traceId: string
  account: string
  method: string
  path: string
  status: number
}

export interface Tables {
  settings: SettingsTable
  organizations: OrganizationsTable
  accounts: AccountsTable
  sessions: SessionsTable
  signingKeys: SigningKeysTable
  joinTokens: JoinTokensTable
  agents: AgentsTable
  tags: TagsTable
  agentTags: AgentTagsTable
  files: FilesTable
  fileVersions: FileVersionsTable
  deployments: DeploymentsTable
  deploymentTags: DeploymentTagsTable
  vclGroups: VclGroupsTable
  vclGroupIncludes: VclGroupIncludesTable
  vclGroupDeployments: VclGroupDeploymentsTable
  sources: SourcesTable
  sourceGrants: SourceGrantsTable
  placements: PlacementsTable
  deploys: DeploysTable
  history: HistoryTable
  apiLogs: ApiLogsTable
}

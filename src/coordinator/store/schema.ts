/**
 * The tables, as both databases have them. Times are integer milliseconds since 1970, flags 0 or 1, JSON is text;
 * the query files convert (`fromRow`). `organizationId` null is the system administrator's own, or shared.
 */
import type { Generated } from 'kysely'
import type { ConsoleTables } from './schema-console.js'
import type { ChangesTable, EventCounterTable, EventsTable } from './schema-events.js'
import type {
  IdpsTable,
  IdpSubjectsTable,
  LoginCodesTable,
  UsedLoginStatesTable,
} from './schema-idps.js'
import type {
  AccountsTable,
  ApiLogsTable,
  JoinTokensTable,
  OrganizationsTable,
  PermissionsTable,
  SessionsTable,
  SettingsTable,
  SigningKeysTable,
  UsersTable,
} from './schema-identity.js'
import type { InvalidationTables } from './schema-invalidations.js'
import type { AgentRoutingsTable, SourceGrantsTable, SourcesTable } from './schema-sources.js'
import type {
  PlacementDomainsTable,
  PlacementsTable,
  StagesTable,
  StageUsesTable,
} from './schema-places.js'

type Flag = 0 | 1

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
  /** From the banner; empty where it is not known. */
  engineRevision: Generated<string>
  /** Of its machine; empty from an agent of an earlier version. */
  hostName: Generated<string>
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
  /** The newest revision of which a report says that it is applied. */
  recordedRevision: number | null
  /** Of the cache's manager, as the agent told it last. */
  cachePid: number | null
  /** Set when another one was told than before: what failed there is tried again. */
  cacheRestarted: Generated<Flag>
  /** The VCL that its cache runs shall be adopted and was not yet: no group is placed there meanwhile. */
  adopting: Generated<Flag>
  /** It is new or was unlocked: a desired state of nothing is not sent before placement has looked at it. */
  awaitsPlacement: Generated<Flag>
  /** JSON of AdoptionRecord; null: it never asked for one. */
  adoption: string | null
  /** Unified text: what was adopted against the group that it was to join; null: there is none. */
  adoptionDifference: string | null
  /** JSON of HeldCache, while it is locked; null: not locked, or nothing is known of its cache. */
  held: string | null
  /** JSON of Drift, the last one. */
  drift: string | null
  /** Given in the console; null: the composed one. */
  consoleName: string | null
  /** Given in the console. */
  description: Generated<string>
  /** The link that counts, where several coordinators may have one; null: none was claimed. */
  linkId: string | null
}

/** A parameter that the cache must be set to. */
export interface AgentParamsTable {
  agentId: number
  name: string
  value: string
}

/** The health that backends of this name must be set to, in all VCLs of ours or in those of some groups. */
export interface AgentBackendsTable {
  agentId: number
  /** Null: of any organization, or a system administrator's group. */
  organizationId: number | null
  /** Null: every group of the organization. */
  groupId: number | null
  backend: string
  /** 'healthy', 'sick' or 'auto': an exception to a broader rule. */
  health: string
}

export interface TagsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  /** The set of `cachefleet apply` that made or took it; null: nobody's. */
  managedBy: Generated<string | null>
  /** The console's group that it is hidden for (`hidden.ts`); null: it is people's. */
  groupId: Generated<number | null>
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
  /** The head's number: the newest version, or an earlier one that the console moved the head back to. */
  version: number
  /** SHA-256 (hex) over the decoded bytes of the head. */
  sha: string
  /** As of tags. */
  managedBy: Generated<string | null>
  /** Of a branch of the console. */
  description: Generated<string>
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
  /** Of the source, as it is kept. */
  bytes: Generated<number>
}

export interface DeploymentsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  min: number
  max: number
  /** As of tags. */
  managedBy: Generated<string | null>
  /** As of tags. */
  groupId: Generated<number | null>
  createdAt: number
  updatedAt: number
}

export interface DeploymentTagsTable {
  deploymentId: number
  tagId: number
}

/** What groups answer for. */
export interface DomainsTable {
  id: Generated<number>
  organizationId: number | null
  /** Lower case, ASCII, maybe `*.` before it. */
  fqdn: string
  /** As of tags. */
  managedBy: Generated<string | null>
  createdAt: number
  updatedAt: number
}

export interface VclGroupsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  root: Flag
  keepOnFailure: Flag
  /** Null: a console's group without VCL. */
  mainFileId: number | null
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
  /** Random, 32 hexadecimal digits: keeps its objects apart from other groups' on one cache. */
  cacheKey: Generated<string>
  /** As of tags. */
  managedBy: Generated<string | null>
  /** It is a group of the console (schema-console.ts). */
  console: Generated<Flag>
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

export interface VclGroupDomainsTable {
  groupId: number
  domainId: number
  position: number
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
  /** The coordinator process that runs it. */
  owner: string
  /** Counts its owners: what an earlier one still wants to write is refused. */
  epoch: number
  /** The owner prolongs it; when it is over, whoever notices ends the deploy. */
  leaseExpiresAt: number
}

/** Who does a periodic duty now; `epoch` counts the holders. */
export interface LeasesTable {
  name: string
  /** A coordinator process. */
  holder: string
  epoch: number
  expiresAt: number
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
  /** JSON of NamedReference[]: whose places it took. */
  replaced: string | null
  /** JSON of NamedReference: who took its last place. */
  replacedBy: string | null
  /** Null: what began no deploy, or was noted by an earlier version. */
  deployId: number | null
}

export interface Tables extends ConsoleTables, InvalidationTables {
  settings: SettingsTable
  organizations: OrganizationsTable
  accounts: AccountsTable
  users: UsersTable
  permissions: PermissionsTable
  sessions: SessionsTable
  signingKeys: SigningKeysTable
  joinTokens: JoinTokensTable
  idps: IdpsTable
  idpSubjects: IdpSubjectsTable
  loginCodes: LoginCodesTable
  usedLoginStates: UsedLoginStatesTable
  agents: AgentsTable
  agentParams: AgentParamsTable
  agentBackends: AgentBackendsTable
  tags: TagsTable
  agentTags: AgentTagsTable
  files: FilesTable
  fileVersions: FileVersionsTable
  deployments: DeploymentsTable
  deploymentTags: DeploymentTagsTable
  domains: DomainsTable
  vclGroups: VclGroupsTable
  vclGroupDomains: VclGroupDomainsTable
  vclGroupIncludes: VclGroupIncludesTable
  vclGroupDeployments: VclGroupDeploymentsTable
  sources: SourcesTable
  sourceGrants: SourceGrantsTable
  placements: PlacementsTable
  placementDomains: PlacementDomainsTable
  stages: StagesTable
  stageUses: StageUsesTable
  agentRoutings: AgentRoutingsTable
  deploys: DeploysTable
  leases: LeasesTable
  history: HistoryTable
  apiLogs: ApiLogsTable
  changes: ChangesTable
  events: EventsTable
  eventCounter: EventCounterTable
}

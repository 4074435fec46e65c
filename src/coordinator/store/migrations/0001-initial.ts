/**
 * The first tables (their meaning: `../schema.ts`), and indices for what is looked up.
 * A reference without `on delete` keeps what it refers to from being deleted (choices: 3, DELETE).
 */
import { makeStatementWriters, type Migration } from './migration.js'

export const initialTables: Migration = {
  name: '0001-initial',
  statements: (dialect) => {
    const { id, integer, text } = dialect
    const { table, index } = makeStatementWriters(dialect)
    const owner = `"organizationId" ${integer} references organizations`
    const times = `"createdAt" ${integer} not null, "updatedAt" ${integer} not null`
    /** Unique in an organization and among what belongs to none, where null would not equal null. */
    const uniqueName = (name: string): readonly string[] => [
      `create unique index "${name}_name" on "${name}" (coalesce("organizationId", 0), name)`,
      index(`${name}_organization`, `"${name}" ("organizationId", name)`),
    ]

    return [
      table('settings', `name ${text} not null primary key`, `value ${text} not null`),

      table(
        'organizations',
        `id ${id}`,
        `name ${text} not null unique`,
        `"accessTtlSeconds" ${integer} not null`,
        `"refreshTtlSeconds" ${integer} not null`,
        `locked ${integer} not null`,
        times,
      ),

      table(
        'accounts',
        `id ${id}`,
        `name ${text} not null unique`,
        `"passwordHash" ${text} not null`,
        `email ${text} not null`,
        `locked ${integer} not null`,
        `"systemAdministrator" ${integer} not null`,
        times,
      ),

      table(
        'sessions',
        `id ${id}`,
        `"accountId" ${integer} not null references accounts on delete cascade`,
        `${owner} on delete cascade`,
        `label ${text} not null`,
        `"refreshDigest" ${text} not null unique`,
        `"createdAt" ${integer} not null`,
        `"lastUsedAt" ${integer} not null`,
        `"accessExpiresAt" ${integer} not null`,
        `"refreshExpiresAt" ${integer} not null`,
      ),
      index('sessions_account', 'sessions ("accountId")'),
      index('sessions_organization', 'sessions ("organizationId")'),
      index('sessions_expiry', 'sessions ("refreshExpiresAt")'),

      table(
        'signingKeys',
        `kid ${text} not null primary key`,
        `"publicJwk" ${text} not null`,
        `"sealedPrivateJwk" ${text} not null`,
        `"createdAt" ${integer} not null`,
      ),

      table(
        'joinTokens',
        `id ${id}`,
        `${owner} on delete cascade`,
        `label ${text} not null`,
        `digest ${text} not null unique`,
        `"expiresAt" ${integer}`,
        `"maxUses" ${integer} not null`,
        `uses ${integer} not null`,
        `"tagIds" ${text} not null`,
        `"createdAt" ${integer} not null`,
      ),
      index('joinTokens_organization', '"joinTokens" ("organizationId")'),

      table(
        'agents',
        `id ${id}`,
        owner,
        `name ${text} not null unique`,
        `"keyDigest" ${text} not null unique`,
        `state ${integer} not null`,
        `"engineState" ${text} not null`,
        `"engineError" ${text}`,
        `"engineHost" ${text} not null`,
        `"enginePort" ${integer} not null`,
        `"engineVersion" ${text} not null`,
        `"engineWorkingDirectory" ${text}`,
        `"agentVersion" ${text} not null`,
        `capabilities ${text} not null`,
        `"lockedBecause" ${text}`,
        times,
        `"lastHeartbeatAt" ${integer} not null`,
        `"lastStateChangeAt" ${integer} not null`,
        `"desiredRevision" ${integer} not null`,
        `desired ${text} not null`,
        `"attemptedRevision" ${integer}`,
        `"attemptedResult" ${text}`,
        `"attemptedError" ${text}`,
        `"attemptedAt" ${integer}`,
        `"effectiveRevision" ${integer}`,
        `drift ${text}`,
      ),
      index('agents_organization', 'agents ("organizationId")'),

      table('tags', `id ${id}`, owner, `name ${text} not null`, times),
      ...uniqueName('tags'),

      table(
        'agentTags',
        `"agentId" ${integer} not null references agents on delete cascade`,
        `"tagId" ${integer} not null references tags on delete cascade`,
        `static ${integer} not null`,
        `assigned ${integer} not null`,
        `primary key ("agentId", "tagId")`,
      ),
      index('agentTags_tag', '"agentTags" ("tagId")'),

      table(
        'files',
        `id ${id}`,
        owner,
        `name ${text} not null`,
        `"contentType" ${text} not null`,
        `encoded ${integer} not null`,
        `"fileType" ${integer} not null`,
        `version ${integer} not null`,
        `sha ${text} not null`,
        times,
      ),
      ...uniqueName('files'),

      table(
        'fileVersions',
        `"fileId" ${integer} not null references files on delete cascade`,
        owner,
        `version ${integer} not null`,
        `source ${text} not null`,
        `encoded ${integer} not null`,
        `"contentType" ${text} not null`,
        `sha ${text} not null`,
        `account ${text} not null`,
        `"createdAt" ${integer} not null`,
        `primary key ("fileId", version)`,
      ),

      table(
        'deployments',
        `id ${id}`,
        owner,
        `name ${text} not null`,
        `min ${integer} not null`,
        `max ${integer} not null`,
        times,
      ),
      ...uniqueName('deployments'),

      table(
        'deploymentTags',
        `"deploymentId" ${integer} not null references deployments on delete cascade`,
        `"tagId" ${integer} not null references tags`,
        `primary key ("deploymentId", "tagId")`,
      ),
      index('deploymentTags_tag', '"deploymentTags" ("tagId")'),

      table(
        'vclGroups',
        `id ${id}`,
        owner,
        `name ${text} not null`,
        `root ${integer} not null`,
        `"keepOnFailure" ${integer} not null`,
        `"mainFileId" ${integer} not null references files`,
        `"mainFileVersion" ${integer}`,
        `deployed ${integer} not null`,
        `revision ${integer} not null`,
        `wish ${text}`,
        `"wishSha" ${text}`,
        `"wishPending" ${integer} not null`,
        times,
      ),
      ...uniqueName('vclGroups'),
      index('vclGroups_mainFile', '"vclGroups" ("mainFileId")'),

      table(
        'vclGroupIncludes',
        `"groupId" ${integer} not null references "vclGroups" on delete cascade`,
        `"fileId" ${integer} not null references files`,
        `position ${integer} not null`,
        `primary key ("groupId", "fileId")`,
      ),
      index('vclGroupIncludes_file', '"vclGroupIncludes" ("fileId")'),

      table(
        'vclGroupDeployments',
        `"groupId" ${integer} not null references "vclGroups" on delete cascade`,
        `"deploymentId" ${integer} not null references deployments`,
        `position ${integer} not null`,
        `primary key ("groupId", "deploymentId")`,
      ),
      index('vclGroupDeployments_deployment', '"vclGroupDeployments" ("deploymentId")'),

      table(
        'sources',
        `sha ${text} not null primary key`,
        `text ${text} not null`,
        `"sourceMap" ${text} not null`,
        `loads ${integer} not null`,
        `"createdAt" ${integer} not null`,
      ),

      table(
        'sourceGrants',
        `"agentId" ${integer} not null references agents on delete cascade`,
        `sha ${text} not null`,
        `"expiresAt" ${integer} not null`,
        `primary key ("agentId", sha)`,
      ),

      table(
        'placements',
        `"groupId" ${integer} not null references "vclGroups"`,
        `"agentId" ${integer} not null references agents on delete cascade`,
        owner,
        `"deploymentId" ${integer} not null references deployments`,
        `position ${integer} not null`,
        `state ${text} not null`,
        `"wantedRevision" ${integer} not null`,
        `"appliedRevision" ${integer}`,
        `"currentName" ${text}`,
        `"currentSha" ${text}`,
        `"candidateName" ${text}`,
        `"candidateSha" ${text}`,
        `"candidateState" ${text}`,
        `"previousName" ${text}`,
        `"previousSha" ${text}`,
        `error ${text}`,
        `"deployedAt" ${integer}`,
        `primary key ("groupId", "agentId")`,
      ),
      index('placements_agent', 'placements ("agentId")'),
      index('placements_deployment', 'placements ("deploymentId")'),

      table(
        'deploys',
        `id ${id}`,
        // One deploy of a group at a time (choices: 3).
        `"groupId" ${integer} not null unique references "vclGroups"`,
        owner,
        `action ${text} not null`,
        `revision ${integer} not null`,
        `sources ${text} not null`,
        `sha ${text} not null`,
        `"traceId" ${text} not null`,
        `account ${text} not null`,
        `"startedAt" ${integer} not null`,
      ),

      table(
        'history',
        `id ${id}`,
        `"groupId" ${integer} not null references "vclGroups" on delete cascade`,
        owner,
        `revision ${integer}`,
        `at ${integer} not null`,
        `account ${text} not null`,
        `action ${text} not null`,
        `result ${text} not null`,
        `sources ${text} not null`,
        `sha ${text} not null`,
      ),
      index('history_group', 'history ("groupId", id)'),

      // Without references: the log outlives what it tells of.
      table(
        'apiLogs',
        `id ${id}`,
        `"organizationId" ${integer}`,
        `"createdAt" ${integer} not null`,
        `severity ${integer} not null`,
        `msg ${text} not null`,
        `"keyType" ${text} not null`,
        `"keyId" ${integer}`,
        `"traceId" ${text} not null`,
        `account ${text} not null`,
        `method ${text} not null`,
        `path ${text} not null`,
        `status ${integer} not null`,
      ),
      index('apiLogs_createdAt', '"apiLogs" ("createdAt")'),
      index('apiLogs_organization', '"apiLogs" ("organizationId", id)'),
    ]
  },
}

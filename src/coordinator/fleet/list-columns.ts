/** What each list of the API can be filtered and sorted by, and where it stands in the tables (choices: 2, Lists). */
import { expressionBuilder, sql, type Expression, type SqlBool } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import { agent } from '../../resources/agent.js'
import { tag } from '../../resources/tag.js'
import type { ListColumns, NestedColumn, PlainColumn } from '../store/list-query.js'
import { listColumns, ownerColumns } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import { staticTag } from './tag-queries.js'
import { deployedGroup } from './group-queries.js'

export const tagColumns = {
  ...listColumns(tag.fields, 'tags'),
  static: { column: staticTag(), type: 'flag' },
} satisfies ListColumns

function tagOfAgent(of: PlainColumn): NestedColumn {
  return {
    type: 'nested',
    of,
    exists: (condition) =>
      expressionBuilder<Tables, 'agents'>().exists((e) =>
        e
          .selectFrom('agentTags')
          .innerJoin('tags', 'tags.id', 'agentTags.tagId')
          .select('agentTags.tagId')
          .whereRef('agentTags.agentId', '=', 'agents.id')
          .where(condition),
      ),
  }
}

/** What a Down agent told last is not what its cache does now. */
function engineStateWhile(isDown: '=' | '<>') {
  return sql<
    string | null
  >`case when agents.state ${sql.raw(isDown)} ${sql.lit(agentStates.Down)} then agents."engineState" end`
}

const attemptColumns = {
  'config.lastAttempted.revision': {
    column: 'agents.attemptedRevision',
    type: 'number',
    nullable: true,
  },
  'config.lastAttempted.result': {
    column: 'agents.attemptedResult',
    type: 'text',
    nullable: true,
  },
  'config.lastAttempted.at': { column: 'agents.attemptedAt', type: 'time', nullable: true },
} as const

export const agentColumns = {
  ...listColumns(agent.fields, 'agents'),
  stateName: { column: 'agents.state', type: 'choice', choices: agentStates },
  engineState: { column: engineStateWhile('<>'), type: 'text', nullable: true },
  lastEngineState: { column: engineStateWhile('='), type: 'text', nullable: true },
  'tags.id': tagOfAgent({ column: 'tags.id', type: 'number' }),
  'tags.name': tagOfAgent({ column: 'tags.name', type: 'text' }),
  'tags.static': tagOfAgent({ column: 'agentTags.static', type: 'flag' }),
  'config.desired.revision': { column: 'agents.desiredRevision', type: 'number' },
  ...attemptColumns,
  'config.effective.revision': {
    column: 'agents.effectiveRevision',
    type: 'number',
    nullable: true,
  },
} satisfies ListColumns

/**
 * As the agents' answers have them: on a shared agent an organization is not told how the last attempt ended, which may have been
 * another one's, and finds nothing by it either.
 */
export function agentColumnsFor(scope: Scope): ListColumns {
  if (scope.kind === 'all') return agentColumns
  const owned = (attempted: PlainColumn): PlainColumn => ({
    ...attempted,
    column: sql`case when ${within(scope, 'agents')} then ${toExpression(attempted)} end`,
  })
  const attempts = Object.entries(attemptColumns).map(
    ([name, column]) => [name, owned(column)] as const,
  )
  return { ...agentColumns, ...Object.fromEntries(attempts) }
}

function toExpression({ column }: PlainColumn): Expression<unknown> {
  return typeof column === 'string' ? sql.ref(column) : column
}

export const fileColumns = {
  id: { column: 'files.id', type: 'number' },
  name: { column: 'files.name', type: 'text' },
  ...ownerColumns,
  contentType: { column: 'files.contentType', type: 'text' },
  encoded: { column: 'files.encoded', type: 'flag' },
  fileType: { column: 'files.fileType', type: 'number' },
  sha: { column: sql`'"' || ${sql.ref('files.sha')} || '"'`, type: 'text' },
  version: { column: 'files.version', type: 'number' },
  managedBy: { column: 'files.managedBy', type: 'text', nullable: true },
  created: { column: 'files.createdAt', type: 'time' },
  updated: { column: 'files.updatedAt', type: 'time' },
} satisfies ListColumns

/** A version's number is its id within its file. */
export const versionColumns = {
  id: { column: 'fileVersions.version', type: 'number' },
  version: { column: 'fileVersions.version', type: 'number' },
  contentType: { column: 'fileVersions.contentType', type: 'text' },
  encoded: { column: 'fileVersions.encoded', type: 'flag' },
  sha: { column: sql`'"' || ${sql.ref('fileVersions.sha')} || '"'`, type: 'text' },
  account: { column: 'fileVersions.account', type: 'text' },
  created: { column: 'fileVersions.createdAt', type: 'time' },
} satisfies ListColumns

function tagOfDeployment(of: PlainColumn): NestedColumn {
  return {
    type: 'nested',
    of,
    exists: (condition) =>
      expressionBuilder<Tables, 'deployments'>().exists((e) =>
        e
          .selectFrom('deploymentTags')
          .innerJoin('tags', 'tags.id', 'deploymentTags.tagId')
          .select('deploymentTags.tagId')
          .whereRef('deploymentTags.deploymentId', '=', 'deployments.id')
          .where(condition),
      ),
  }
}

function agentOfDeployment(of: PlainColumn): NestedColumn {
  return {
    type: 'nested',
    of,
    exists: (condition) =>
      expressionBuilder<Tables, 'deployments'>().exists((e) =>
        e
          .selectFrom('placements')
          .innerJoin('agents', 'agents.id', 'placements.agentId')
          .select('placements.agentId')
          .whereRef('placements.deploymentId', '=', 'deployments.id')
          .where(condition),
      ),
  }
}

/** Beside these a deployment's `state` and `stateName` follow from its places, and are no column. */
export const deploymentColumns = {
  id: { column: 'deployments.id', type: 'number' },
  name: { column: 'deployments.name', type: 'text' },
  ...ownerColumns,
  min: { column: 'deployments.min', type: 'number' },
  max: { column: 'deployments.max', type: 'number' },
  'tags.id': tagOfDeployment({ column: 'tags.id', type: 'number' }),
  'tags.name': tagOfDeployment({ column: 'tags.name', type: 'text' }),
  'agents.id': agentOfDeployment({ column: 'agents.id', type: 'number' }),
  'agents.name': agentOfDeployment({ column: 'agents.name', type: 'text' }),
  managedBy: { column: 'deployments.managedBy', type: 'text', nullable: true },
  created: { column: 'deployments.createdAt', type: 'time' },
  updated: { column: 'deployments.updatedAt', type: 'time' },
} satisfies ListColumns

type Exists = (condition: Expression<SqlBool>) => Expression<SqlBool>

/** Within it `files` is the include, not the main file that the list itself joins. */
const includeOfGroup: Exists = (condition) =>
  expressionBuilder<Tables, 'vclGroups'>().exists((e) =>
    e
      .selectFrom('vclGroupIncludes')
      .innerJoin('files', 'files.id', 'vclGroupIncludes.fileId')
      .select('vclGroupIncludes.fileId')
      .whereRef('vclGroupIncludes.groupId', '=', 'vclGroups.id')
      .where(condition),
  )

const deploymentOfGroup: Exists = (condition) =>
  expressionBuilder<Tables, 'vclGroups'>().exists((e) =>
    e
      .selectFrom('vclGroupDeployments')
      .innerJoin('deployments', 'deployments.id', 'vclGroupDeployments.deploymentId')
      .select('vclGroupDeployments.deploymentId')
      .whereRef('vclGroupDeployments.groupId', '=', 'vclGroups.id')
      .where(condition),
  )

const domainOfGroup: Exists = (condition) =>
  expressionBuilder<Tables, 'vclGroups'>().exists((e) =>
    e
      .selectFrom('vclGroupDomains')
      .innerJoin('domains', 'domains.id', 'vclGroupDomains.domainId')
      .select('vclGroupDomains.domainId')
      .whereRef('vclGroupDomains.groupId', '=', 'vclGroups.id')
      .where(condition),
  )

/** Beside these a group's `state` and `stateName` follow from its places, and are no column. */
export const groupColumns = {
  id: { column: 'vclGroups.id', type: 'number' },
  name: { column: 'vclGroups.name', type: 'text' },
  ...ownerColumns,
  root: { column: 'vclGroups.root', type: 'flag' },
  console: { column: 'vclGroups.console', type: 'flag' },
  keepOnFailure: { column: 'vclGroups.keepOnFailure', type: 'flag' },
  deployed: { column: deployedGroup(), type: 'flag' },
  revision: { column: 'vclGroups.revision', type: 'number' },
  'mainVCL.id': { column: 'files.id', type: 'number', nullable: true },
  'mainVCL.name': { column: 'files.name', type: 'text', nullable: true },
  'includes.id': {
    type: 'nested',
    of: { column: 'files.id', type: 'number' },
    exists: includeOfGroup,
  },
  'includes.name': {
    type: 'nested',
    of: { column: 'files.name', type: 'text' },
    exists: includeOfGroup,
  },
  'domains.id': {
    type: 'nested',
    of: { column: 'domains.id', type: 'number' },
    exists: domainOfGroup,
  },
  'domains.fqdn': {
    type: 'nested',
    of: { column: 'domains.fqdn', type: 'text' },
    exists: domainOfGroup,
  },
  'deployments.id': {
    type: 'nested',
    of: { column: 'deployments.id', type: 'number' },
    exists: deploymentOfGroup,
  },
  'deployments.name': {
    type: 'nested',
    of: { column: 'deployments.name', type: 'text' },
    exists: deploymentOfGroup,
  },
  managedBy: { column: 'vclGroups.managedBy', type: 'text', nullable: true },
  created: { column: 'vclGroups.createdAt', type: 'time' },
  updated: { column: 'vclGroups.updatedAt', type: 'time' },
} satisfies ListColumns

export const domainColumns = {
  id: { column: 'domains.id', type: 'number' },
  fqdn: { column: 'domains.fqdn', type: 'text' },
  ...ownerColumns,
  managedBy: { column: 'domains.managedBy', type: 'text', nullable: true },
  created: { column: 'domains.createdAt', type: 'time' },
  updated: { column: 'domains.updatedAt', type: 'time' },
} satisfies ListColumns

export const organizationColumns = {
  id: { column: 'organizations.id', type: 'number' },
  name: { column: 'organizations.name', type: 'text' },
  accessTTL: { column: 'organizations.accessTtlSeconds', type: 'number' },
  refreshTTL: { column: 'organizations.refreshTtlSeconds', type: 'number' },
  locked: { column: 'organizations.locked', type: 'flag' },
  created: { column: 'organizations.createdAt', type: 'time' },
  updated: { column: 'organizations.updatedAt', type: 'time' },
} satisfies ListColumns

export const joinTokenColumns = {
  id: { column: 'joinTokens.id', type: 'number' },
  label: { column: 'joinTokens.label', type: 'text' },
  ...ownerColumns,
  expires: {
    column: sql`${sql.ref('joinTokens.expiresAt')} / 1000`,
    type: 'number',
    nullable: true,
  },
  maxUses: { column: 'joinTokens.maxUses', type: 'number' },
  uses: { column: 'joinTokens.uses', type: 'number' },
  created: { column: 'joinTokens.createdAt', type: 'time' },
} satisfies ListColumns

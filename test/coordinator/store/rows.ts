/** Rows for the tests of the store, with a value in every column that a test does not set. */
import type { Insertable } from 'kysely'
import { insertDeploy } from '../../../src/coordinator/fleet/deploy-queries.js'
import type { Tables } from '../../../src/coordinator/store/schema.js'
import type { Queries } from '../../../src/coordinator/store/store.js'

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

export async function addOrganization(queries: Queries, name: string): Promise<number> {
  const { id } = await queries
    .insertInto('organizations')
    .values({
      name,
      accessTtlSeconds: 600,
      refreshTtlSeconds: 3600,
      locked: 0,
      createdAt: at,
      updatedAt: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addTag(
  queries: Queries,
  name: string,
  organizationId: number | null = null,
  createdAt: number = at,
): Promise<number> {
  const { id } = await queries
    .insertInto('tags')
    .values({ name, organizationId, createdAt, updatedAt: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addFile(queries: Queries, name: string): Promise<number> {
  const { id } = await queries
    .insertInto('files')
    .values({
      name,
      organizationId: null,
      contentType: 'text/plain; charset=utf-8',
      encoded: 0,
      fileType: 1,
      version: 1,
      sha: 'abc',
      createdAt: at,
      updatedAt: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addGroup(
  queries: Queries,
  name: string,
  mainFileId: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('vclGroups')
    .values({
      name,
      organizationId: null,
      root: 1,
      keepOnFailure: 1,
      mainFileId,
      mainFileVersion: null,
      deployed: 0,
      revision: 0,
      wish: null,
      wishPending: 0,
      createdAt: at,
      updatedAt: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addDeployment(queries: Queries, name: string): Promise<number> {
  const { id } = await queries
    .insertInto('deployments')
    .values({ name, organizationId: null, min: 1, max: 1, createdAt: at, updatedAt: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function addPlacement(
  queries: Queries,
  groupId: number,
  agentId: number,
  deploymentId: number | null,
): Promise<void> {
  await queries
    .insertInto('placements')
    .values({
      groupId,
      agentId,
      deploymentId,
      organizationId: null,
      position: 0,
      state: 'wanted',
      wantedRevision: 1,
      appliedRevision: null,
      currentName: null,
      currentSha: null,
      candidateName: null,
      candidateSha: null,
      candidateState: null,
      previousName: null,
      previousSha: null,
      error: null,
      deployedAt: null,
      keptDown: 0,
      stage: 0,
      leaving: 0,
      replacedBy: null,
    })
    .execute()
}

export async function addAgent(
  queries: Queries,
  name: string,
  changes: Partial<Insertable<Tables['agents']>> = {},
): Promise<number> {
  const { id } = await queries
    .insertInto('agents')
    .values({
      name,
      organizationId: null,
      keyDigest: `digest of ${name}`,
      state: 1,
      engineState: 'running',
      engineError: null,
      engineHost: '127.0.0.1',
      enginePort: 6081,
      engineVersion: '7.1.1',
      engineWorkingDirectory: null,
      agentVersion: '0.1.0',
      capabilities: '["report"]',
      lockedBecause: null,
      createdAt: at,
      updatedAt: at,
      lastHeartbeatAt: at,
      lastStateChangeAt: at,
      desiredRevision: 1,
      desired: '{}',
      attemptedRevision: null,
      attemptedResult: null,
      recordedRevision: null,
      attemptedError: null,
      attemptedAt: null,
      effectiveRevision: null,
      drift: null,
      linkId: null,
      ...changes,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function bearTag(queries: Queries, agentId: number, tagId: number): Promise<void> {
  await queries.insertInto('agentTags').values({ agentId, tagId, static: 0, assigned: 1 }).execute()
}

/** Writes a deploy in phase one; the group's main file is number 1. */
export async function addDeploy(
  queries: Queries,
  deploy: { readonly groupId: number } & Partial<Parameters<typeof insertDeploy>[1]> & {
      readonly leaseExpiresAt?: number
    },
): Promise<number> {
  const { leaseExpiresAt = 1, ...fields } = deploy
  const sources = {
    mainVCL: { id: 1, name: 'main.vcl', version: 1 },
    includes: [],
    releases: null,
    domains: [],
    deploymentIds: [],
    sha: 'abc',
    programName: 'cf-1-abc-1',
  }
  const row = {
    organizationId: null,
    action: 'deploy' as const,
    revision: 1,
    sources,
    traceId: 'trace-of-it',
    account: 'admin',
    startedAt: 1,
    owner: 'one',
    epoch: 1,
    rolloutId: null,
  }
  return insertDeploy(queries, { ...row, ...fields }, leaseExpiresAt)
}

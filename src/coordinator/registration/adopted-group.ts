/** Creates a group from the VCL that a cache runs: files, tag, deployment and a first revision, which already serves. */
import { randomBytes } from 'node:crypto'
import { programName } from '../../vcl/desired-engine.js'
import { fileTypes, type FleetFile } from '../../resources/file.js'
import type { VclText } from '../../vcl/bundle.js'
import { defaultContentType, readFileContent } from '../../vcl/file.js'
import type { ReleaseFile, Release } from '../fleet/vcl-group.js'
import { rebuildInSteps, type RebuiltVcl, type VclPart } from '../../vcl/running-vcl.js'
import { runInSteps } from '../../in-steps.js'
import { adoptedPrefix, addStaticTag } from '../fleet/adoption-queries.js'
import type { RegisteredRow } from '../fleet/agent-rows.js'
import { keepTags } from '../fleet/agent-tags.js'
import { insertDeployment } from '../fleet/deployment-queries.js'
import { insertFile } from '../files/file-queries.js'
import { addHistory } from '../fleet/history-queries.js'
import { isAnyNameTaken, type NamedReference } from '../store/owner.js'
import { savePlacements } from '../fleet/placement-queries.js'
import { keepSource } from '../fleet/sources.js'
import type { Queries } from '../store/store.js'
import { insertGroup, writeDesiredRelease } from '../fleet/group-queries.js'
import { createPlacement, switchPlacement, type NewPlacement } from '../placement/placing.js'

/** Name shown in versions and history. */
const adoptionAccount = 'takeover'
/** Number of suffixed names to try if the names of a group are taken. */
const nameTries = 100

export interface AdoptedVcl {
  readonly parts: readonly VclPart[]
  /** VCL name on the cache. */
  readonly program: string
}

export interface WantedGroup {
  readonly name: string
  /** Static tag required by the group's deployment. */
  readonly tag: string
  /** True if another name may be used when this one is taken. */
  readonly mayBeRenamed: boolean
}

export interface MadeGroup extends NamedReference {
  /** Static tag of the agent from now on, null if none. */
  readonly tag: string | null
}

/** Owner of the cache, and the time. */
export interface Adopter {
  readonly queries: Queries
  readonly agent: RegisteredRow
  readonly now: number
}

/** Call under the decision lock. Returns a reason if the text cannot be stored as files, or all names are taken. */
export async function makeAdoptedGroup(
  { queries, agent, now }: Adopter,
  { parts, program }: AdoptedVcl,
  wanted: WantedGroup,
): Promise<MadeGroup | { readonly reason: string }> {
  const { organizationId } = agent
  const rebuilt = await rebuild(queries, organizationId, parts, wanted.name)
  if (!rebuilt.ok) return rebuilt
  const { bundle, main: mainText } = rebuilt
  const [tagId = 0] = await keepTags(queries, organizationId, [wanted.tag], now)
  await addStaticTag(queries, agent.id, tagId)
  const one = { name: rebuilt.name, min: 1, max: 1, tagIds: [tagId], managedBy: null }
  const deploymentId = await insertDeployment(queries, organizationId, one, now)
  const main = await makeFile(queries, agent, { ...mainText, fileType: fileTypes.main }, now)
  const includes: ReleaseFile[] = []
  for (const file of rebuilt.includes)
    includes.push(await makeFile(queries, agent, { ...file, fileType: fileTypes.include }, now))
  const name = wanted.mayBeRenamed ? rebuilt.name : wanted.name
  const groupId = await insertGroup(
    queries,
    { organizationId, cacheKey: randomBytes(16).toString('hex') },
    {
      name,
      root: true,
      keepOnFailure: true,
      mainFileId: main.id,
      mainFileVersion: null,
      includeIds: includes.map(({ id }) => id),
      testIds: [],
      requireTests: false,
      domainIds: [],
      deploymentIds: [deploymentId],
      releases: null,
      rollout: null,
      managedBy: null,
    },
    now,
  )
  await keepSource(queries, bundle, now)
  const sources: Release = {
    mainVCL: main,
    includes,
    sha: bundle.sha,
    programName: programName(groupId, bundle.sha, 0),
    deploymentIds: [deploymentId],
    domains: [],
    releases: null,
  }
  const revision = 1
  await writeDesiredRelease(queries, groupId, { sources, pending: false, revision })
  await saveServingPlacement(
    queries,
    {
      group: { id: groupId, organizationId },
      agentId: agent.id,
      deploymentId,
      position: 1,
      revision,
      program: { name: program, sha: bundle.sha, fqdns: null },
    },
    now,
  )
  const account = adoptionAccount
  const entry = { groupId, organizationId, revision, at: now, account, result: 'ok', sources }
  await addHistory(queries, { ...entry, action: 'adopt' })
  return { id: groupId, name, tag: wanted.tag }
}

/** The cache already serves it under its existing name. */
export async function saveServingPlacement(
  queries: Queries,
  place: NewPlacement,
  now: number,
): Promise<void> {
  const { revision } = place
  const switched = switchPlacement(createPlacement(place), revision)
  await savePlacements(queries, [
    { ...switched, state: 'applied', appliedRevision: revision, deployedAt: now },
  ])
}

/** Name of the agent's own tag and of the group created for it alone. */
export function adoptedName(name: string): string {
  return `${adoptedPrefix}${name}`
}

/** Chooses names for deployment and files that are unused in the agent's organization. */
async function rebuild(
  queries: Queries,
  organizationId: number | null,
  parts: readonly VclPart[],
  wanted: string,
): Promise<(RebuiltVcl & { readonly name: string }) | { readonly ok: false; reason: string }> {
  for (let count = 1; count <= nameTries; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`
    const rebuilt = await runInSteps(rebuildInSteps(parts, name))
    if (!rebuilt.ok) return rebuilt
    const files = [rebuilt.main, ...rebuilt.includes].map((file) => file.name)
    const names = { vclGroups: [name], deployments: [name], files }
    if (!(await isAnyTaken(queries, organizationId, names))) return { ...rebuilt, name }
  }
  return { ok: false, reason: 'all names for it are taken' }
}

async function isAnyTaken(
  queries: Queries,
  owner: number | null,
  names: Readonly<Record<'vclGroups' | 'deployments' | 'files', readonly string[]>>,
): Promise<boolean> {
  for (const table of ['vclGroups', 'deployments', 'files'] as const)
    if (await isAnyNameTaken(queries, table, owner, names[table])) return true
  return false
}

async function makeFile(
  queries: Queries,
  { organizationId }: RegisteredRow,
  { name, text, fileType }: VclText & Pick<FleetFile, 'fileType'>,
  now: number,
): Promise<ReleaseFile> {
  const read = readFileContent({ source: text, encoded: false })
  if (!read.ok) throw new Error(`the text of ${name} was flattened and cannot be a file`)
  const contentType = defaultContentType(false)
  const version = { source: text, encoded: false, contentType, sha: read.content.sha }
  const made = { ...version, account: adoptionAccount, createdAt: now }
  const id = await insertFile(
    queries,
    organizationId,
    { name, contentType, fileType, managedBy: null },
    made,
  )
  return { id, name, version: 1 }
}

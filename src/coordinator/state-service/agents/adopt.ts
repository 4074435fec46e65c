/**
 * `--takeover adopt`: what a cache runs when its agent comes is made a file and a deployed root group of that agent, in one
 * transaction (choices: 1, 3 Takeover). The group's program is the VCL that is loaded already, under the name that it has:
 * the cache is not touched and nothing is compiled. VCL policy is not applied.
 *
 * An agent asks for it until it holds a desired state of its own: whatever dies in between, it is asked again, and a second
 * time nothing is made.
 */
import { randomBytes } from 'node:crypto'
import type { Context } from '../../../context.js'
import { rebuildVcl, type RebuiltVcl } from '../../../domain/running-vcl.js'
import { defaultContentType, fileTypes, readFileContent } from '../../../domain/vcl-file.js'
import type { VclText } from '../../../domain/vcl-bundle.js'
import type { WishedFile, WishedSources } from '../../../domain/vcl-group.js'
import { FleetError } from '../../../errors.js'
import { MalformedMessage } from '../../../messages/codec.js'
import {
  parseRunningVcl,
  type NotAdoptable,
  type RunningVcl,
} from '../../../messages/running-vcl.js'
import {
  addStaticTag,
  isAdoptedNameTaken,
  setAdopting,
  writeAdoption,
} from '../../../store/adoptions.js'
import { findRegistered, type RegisteredRow } from '../../../store/agent-rows.js'
import { keepTags } from '../../../store/agent-tags.js'
import { parseAdoption } from '../../../store/agents.js'
import { insertDeployment } from '../../../store/deployments.js'
import { recomposeDesired } from '../../../store/desired-states.js'
import { insertFile } from '../../../store/files.js'
import { addHistory } from '../../../store/history.js'
import { readPlacements, savePlacements } from '../../../store/placements.js'
import { keepSource } from '../../../store/sources.js'
import type { Queries } from '../../../store/store.js'
import { insertGroup, writeWish } from '../../../store/vcl-groups.js'
import { createPlacement, switchPlacement } from '../placing/placing.js'
import type { StateService } from '../service.js'
import { tellAgentsChanged, tellDesiredChanged } from './agent-hints.js'
import { instructAgent } from './instruct.js'

/** Chosen by us: the cache may be compiling for somebody else. */
const answerTimeoutMs = 150_000
/** Whose name stands in versions and history. */
const adoptionAccount = 'takeover'
/** Chosen by us: names with a number behind them that are tried when those of an agent are taken. */
const nameTries = 100

/** Answers false when there was nothing to do. Rejects when it is worth another try: the agent or the store is away. */
export async function adoptRunningVcl(
  service: StateService,
  context: Context,
  agentId: number,
): Promise<boolean> {
  const agent = await findRegistered(service.store.queries, agentId)
  if (!agent || parseAdoption(agent.adoption)?.result === 'adopted') return false
  const running = await askRunning(service, context, agentId)
  const settle = (found: RunningVcl | NotAdoptable) =>
    service.store.decide((queries) => settleAdoption({ service, context, queries }, agentId, found))
  const done = await settle(running).catch((error: unknown) => {
    // Its organization has no room for the objects.
    if (error instanceof FleetError && error.kind === 'conflict')
      return settle({ refusal: error.message })
    throw error
  })
  if (!done) return false
  tellAgentsChanged(service, [agentId])
  tellDesiredChanged(service, done.agentIds, context.traceId)
  if (done.refusal === null) context.log.info({ agentId, agent: agent.name }, 'running VCL adopted')
  else
    context.log.warn(
      { agentId, agent: agent.name, why: done.refusal },
      'the running VCL cannot be adopted: it serves until the first deploy',
    )
  return true
}

async function askRunning(
  service: StateService,
  context: Context,
  agentId: number,
): Promise<RunningVcl | NotAdoptable> {
  const question = { kind: 'showRunning' } as const
  const request = { agentId, question, timeoutMs: answerTimeoutMs }
  const value = await instructAgent(service, context, request)
  try {
    return parseRunningVcl(value)
  } catch (error) {
    if (error instanceof MalformedMessage)
      return { refusal: `the agent's answer is not understood: ${error.message}` }
    throw error
  }
}

interface Adopting {
  readonly service: StateService
  readonly context: Context
  readonly queries: Queries
}

interface Settled {
  readonly refusal: string | null
  /** Whose desired state changed. */
  readonly agentIds: readonly number[]
}

/** Undefined when something was placed there meanwhile, or another call was first. */
async function settleAdoption(
  work: Adopting,
  agentId: number,
  running: RunningVcl | NotAdoptable,
): Promise<Settled | undefined> {
  const { queries } = work
  const agent = await findRegistered(queries, agentId)
  if (!agent || parseAdoption(agent.adoption)?.result === 'adopted') return undefined
  const placed = await readPlacements(queries, { agentIds: [agentId] })
  if (placed.length > 0) {
    await setAdopting(queries, agentId, false)
    return undefined
  }
  const rebuilt = 'refusal' in running ? undefined : await rebuild(queries, agent, running)
  if ('refusal' in running) return refuse(work, agent, running.refusal)
  if (!rebuilt?.ok) return refuse(work, agent, rebuilt?.reason ?? 'all names for it are taken')
  await makeGroup(work, agent, { ...rebuilt, program: running.program })
  await note(work, agent, null)
  return { refusal: null, agentIds: await recomposeDesired(queries, [agentId]) }
}

async function refuse(work: Adopting, agent: RegisteredRow, refusal: string): Promise<Settled> {
  if (parseAdoption(agent.adoption)?.error === refusal)
    await setAdopting(work.queries, agent.id, false)
  else await note(work, agent, refusal)
  return { refusal, agentIds: [] }
}

async function note(
  { service, context, queries }: Adopting,
  { id, name }: RegisteredRow,
  refusal: string | null,
): Promise<void> {
  const at = service.now()
  const result = refusal === null ? 'adopted' : 'refused'
  const tag = refusal === null ? adoptedName(name) : null
  const msg =
    refusal === null
      ? `what the cache of agent ${name} ran is now VCL group ${adoptedName(name)}`
      : `what the cache of agent ${name} runs cannot be adopted: ${refusal}`
  await writeAdoption(
    queries,
    id,
    { at: new Date(at).toISOString(), result, error: refusal, tag },
    { msg, traceId: context.traceId, at },
  )
}

function adoptedName(agentName: string): string {
  return `adopted-${agentName}`
}

interface Rebuilt extends RebuiltVcl {
  /** Of the group, the deployment, and in front of the files' names. */
  readonly name: string
}

/** With names that are free in the agent's organization. Undefined when none is. */
async function rebuild(
  queries: Queries,
  { name: agentName, organizationId }: RegisteredRow,
  { parts }: RunningVcl,
): Promise<Rebuilt | Extract<ReturnType<typeof rebuildVcl>, { ok: false }> | undefined> {
  for (let count = 1; count <= nameTries; count++) {
    const name = count === 1 ? adoptedName(agentName) : `${adoptedName(agentName)}-${count}`
    const rebuilt = rebuildVcl(parts, name)
    if (!rebuilt.ok) return rebuilt
    const files = [rebuilt.main, ...rebuilt.includes].map((file) => file.name)
    if (!(await isAdoptedNameTaken(queries, organizationId, { object: name, files })))
      return { ...rebuilt, name }
  }
  return undefined
}

async function makeGroup(
  { service, queries }: Adopting,
  agent: RegisteredRow,
  adopted: Rebuilt & { readonly program: string },
): Promise<void> {
  const now = service.now()
  const { organizationId } = agent
  const { name, bundle, program } = adopted
  const [tagId = 0] = await keepTags(queries, organizationId, [adoptedName(agent.name)], now)
  await addStaticTag(queries, agent.id, tagId)
  const one = { name, min: 1, max: 1, tagIds: [tagId], managedBy: null }
  const deploymentId = await insertDeployment(queries, organizationId, one, now)
  const main = await makeFile(queries, agent, { ...adopted.main, fileType: fileTypes.main }, now)
  const includes: WishedFile[] = []
  for (const file of adopted.includes)
    includes.push(await makeFile(queries, agent, { ...file, fileType: fileTypes.include }, now))
  const groupId = await insertGroup(
    queries,
    { organizationId, cacheKey: randomBytes(16).toString('hex') },
    {
      ...{ name, root: true, keepOnFailure: true, mainFileId: main.id, mainFileVersion: null },
      ...{ includeIds: includes.map(({ id }) => id), domainIds: [], deploymentIds: [deploymentId] },
      managedBy: null,
    },
    now,
  )
  await keepSource(queries, bundle, now)
  const sources: WishedSources = {
    ...{ mainVCL: main, includes, sha: bundle.sha, programName: program },
    ...{ deploymentIds: [deploymentId], domains: [] },
  }
  const revision = 1
  await writeWish(queries, groupId, { sources, pending: false, revision })
  const loaded = createPlacement({
    ...{ group: { id: groupId, organizationId }, agentId: agent.id, deploymentId },
    ...{ position: 1, revision, program: { name: program, sha: bundle.sha, fqdns: null } },
  })
  const place = switchPlacement(loaded, revision)
  // It serves already.
  await savePlacements(queries, [
    { ...place, state: 'applied', appliedRevision: revision, deployedAt: now },
  ])
  const account = adoptionAccount
  const entry = { groupId, organizationId, revision, at: now, account, result: 'ok', sources }
  await addHistory(queries, { ...entry, action: 'adopt' })
}

async function makeFile(
  queries: Queries,
  { organizationId }: RegisteredRow,
  { name, text, fileType }: VclText & { readonly fileType: number },
  now: number,
): Promise<WishedFile> {
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

/**
 * `--takeover adopt`: turns the VCL that a cache runs when its agent connects into a file and a deployed root group of that
 * agent, or places the agent in the group that `--adopt-group` names, in one transaction. The group's program is the VCL that is
 * already loaded, under its present name: the cache is not touched and nothing is compiled. VCL policy is not applied.
 *
 * The agent repeats the request until it holds a desired state of its own, so any process may crash in between. A repeated
 * request creates nothing.
 */
import type { Context } from '../../context.js'
import { rebuildInSteps } from '../../vcl/running-vcl.js'
import { runInSteps } from '../../in-steps.js'
import { FleetError } from '../../errors.js'
import type { NotAdoptable, RunningVcl } from '../../messages/answers.js'
import { setAdopting, writeAdoption, writeAdoptionDifference } from '../fleet/adoption-queries.js'
import { findRegistered, type RegisteredRow } from '../fleet/agent-rows.js'
import { parseAdoption, type AdoptionRecord } from '../fleet/agent-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { Queries } from '../store/store.js'
import { isAnyNameTaken } from '../store/owner.js'
import { findGroupNamed } from '../fleet/group-queries.js'
import type { StateService } from '../service.js'
import { adoptedName, makeAdoptedGroup, type MadeGroup, type WantedGroup } from './adopted-group.js'
import { notifyAgentsChanged, notifyDesiredChanged } from '../agents/agent-hints.js'
import { instructAgent } from '../agents/instruct.js'
import { compareWithGroup, findObstacle, joinGroup, type Comparison } from './join-adopted-group.js'

/** The cache may be busy compiling another VCL. */
const answerTimeoutMs = 150_000
/** The comparison is repeated if the group's text changes meanwhile. */
const compareTries = 3
/** Limits the numbered tag names that are tried. */
const tagTries = 100

export interface AdoptionRequest {
  readonly agentId: number
  /** The group that agents with the same text share; null: each agent has its own. */
  readonly groupName: string | null
}

/** Returns false if there was nothing to do. Rejects if a retry may succeed: the agent or the store is unavailable. */
export async function adoptRunningVcl(
  service: StateService,
  context: Context,
  { agentId, groupName }: AdoptionRequest,
): Promise<boolean> {
  const agent = await findRegistered(service.store.queries, agentId)
  if (!agent || parseAdoption(agent.adoption)?.result === 'adopted') return false
  const question = { kind: 'showRunning' } as const
  const asked = { agentId, question, timeoutMs: answerTimeoutMs }
  const running = await instructAgent(service, context, asked)
  const settle = (found: RunningVcl | NotAdoptable) =>
    decideAdoption(service, context, agent, { running: found, groupName })
  const done = await settle(running).catch((error: unknown) => {
    // The organization has no room for the new objects.
    if (error instanceof FleetError && error.kind === 'conflict')
      return settle({ refusal: error.message })
    throw error
  })
  if (!done) return false
  notifyAgentsChanged(service, [agentId])
  notifyDesiredChanged(service, done.agentIds, context.traceId)
  if (done.refusal === null) context.log.info({ agentId, agent: agent.name }, 'running VCL adopted')
  else
    context.log.warn(
      { agentId, agent: agent.name, why: done.refusal },
      'the running VCL cannot be adopted: it serves until the first deploy',
    )
  return true
}

interface Asked {
  readonly running: RunningVcl | NotAdoptable
  readonly groupName: string | null
}

async function decideAdoption(
  service: StateService,
  context: Context,
  agent: RegisteredRow,
  { running, groupName }: Asked,
): Promise<Settled | undefined> {
  for (let count = 0; count < compareTries; count++) {
    const compared =
      groupName === null || 'refusal' in running
        ? null
        : await compareWithGroup(service.store.queries, agent, running, groupName)
    const done = await service.store.decide((queries) =>
      settleAdoption({ service, context, queries }, agent.id, { running, groupName, compared }),
    )
    if (done !== 'changed') return done
  }
  const name = JSON.stringify(groupName)
  throw new FleetError('unavailable', 'agent', `VCL group ${name} keeps changing; try again later`)
}

interface Adopting {
  readonly service: StateService
  readonly context: Context
  readonly queries: Queries
}

interface Settled {
  readonly refusal: string | null
  /** Agents whose desired state changed. */
  readonly agentIds: readonly number[]
}

/** Returns undefined if a group was placed there meanwhile or another call was first; 'changed' if the caller must compare again. */
async function settleAdoption(
  work: Adopting,
  agentId: number,
  asked: Asked & { readonly compared: Comparison | null },
): Promise<Settled | 'changed' | undefined> {
  const { service, queries } = work
  const { running, groupName, compared } = asked
  const agent = await findRegistered(queries, agentId)
  if (!agent || parseAdoption(agent.adoption)?.result === 'adopted') return undefined
  const placed = await readPlacements(queries, { agentIds: [agentId] })
  if (placed.length > 0) {
    await setAdopting(queries, agentId, false)
    return undefined
  }
  if ('refusal' in running) return refuse(work, agent, running.refusal)
  const rebuilt = await runInSteps(rebuildInSteps(running.parts, 'running'))
  if (!rebuilt.ok) return refuse(work, agent, rebuilt.reason)
  const choice = await chooseGroup(queries, agent, { groupName, compared, sha: rebuilt.bundle.sha })
  if (choice === 'changed') return 'changed'
  const adopter = { queries, agent, now: service.now() }
  const made =
    'join' in choice
      ? await joinGroup(adopter, { group: choice.join, program: running.program })
      : await makeAdoptedGroup(adopter, running, choice.make)
  if ('reason' in made) return refuse(work, agent, made.reason)
  await noteAdopted(work, agent, { made, choice, compared })
  return { refusal: null, agentIds: await recomposeDesired(queries, [agentId]) }
}

async function noteAdopted(
  work: Adopting,
  agent: RegisteredRow,
  {
    made,
    choice,
    compared,
  }: {
    readonly made: MadeGroup
    readonly choice: Choice
    readonly compared: Comparison | null
  },
): Promise<void> {
  const { tag, ...group } = made
  const error = 'join' in choice ? null : choice.because
  const how = 'join' in choice ? 'is that of VCL group' : 'is now VCL group'
  const why = error === null ? '' : `: ${error}`
  const message = `the VCL that the cache of agent ${agent.name} ran ${how} ${group.name}${why}`
  await note(work, agent, { result: 'adopted', error, tag, group }, message)
  const difference = error === null ? null : compared?.difference
  await writeAdoptionDifference(work.queries, agent.id, difference ?? null)
}

type Choice =
  | { readonly join: NonNullable<Awaited<ReturnType<typeof findGroupNamed>>> }
  /** `because`: why the agent does not join the group that was named. */
  | { readonly make: WantedGroup; readonly because: string | null }

async function chooseGroup(
  queries: Queries,
  agent: RegisteredRow,
  {
    groupName,
    compared,
    sha,
  }: Pick<Asked, 'groupName'> & {
    readonly compared: Comparison | null
    readonly sha: string
  },
): Promise<Choice | 'changed'> {
  const own = adoptedName(agent.name)
  const alone = { name: own, tag: own, mayBeRenamed: true }
  if (groupName === null) return { make: alone, because: null }
  const group = await findGroupNamed(queries, agent.organizationId, groupName)
  if (!group) {
    const tag = await findFreeTag(queries, agent.organizationId, adoptedName(groupName))
    return { make: { name: groupName, tag, mayBeRenamed: false }, because: null }
  }
  const named = `VCL group ${JSON.stringify(groupName)}`
  const obstacle = await findObstacle(queries, group)
  if (obstacle !== null) return { make: alone, because: `${named} ${obstacle}` }
  if (group.desiredRelease?.sha === sha) return { join: group }
  if (compared?.sha !== group.desiredRelease?.sha) return 'changed'
  return { make: alone, because: `${named} has another text` }
}

/** The name may be taken: an agent with the same name as the group has a tag of this name. */
async function findFreeTag(
  queries: Queries,
  owner: number | null,
  wanted: string,
): Promise<string> {
  for (let count = 2; count <= tagTries; count++) {
    const name = count === 2 ? wanted : `${wanted}-${count - 1}`
    if (!(await isAnyNameTaken(queries, 'tags', owner, [name]))) return name
  }
  throw new FleetError('unavailable', 'agent', `all tags ${wanted}-… are taken`)
}

async function refuse(work: Adopting, agent: RegisteredRow, refusal: string): Promise<Settled> {
  if (parseAdoption(agent.adoption)?.error === refusal)
    await setAdopting(work.queries, agent.id, false)
  else {
    const refused = { result: 'refused', error: refusal, tag: null, group: null } as const
    const message = `the VCL that the cache of agent ${agent.name} runs cannot be adopted: ${refusal}`
    await note(work, agent, refused, message)
  }
  return { refusal, agentIds: [] }
}

async function note(
  { service, context, queries }: Adopting,
  { id }: RegisteredRow,
  adoption: Omit<AdoptionRecord, 'at'>,
  msg: string,
): Promise<void> {
  const at = service.now()
  const record = { at: new Date(at).toISOString(), ...adoption }
  await writeAdoption(queries, id, record, { msg, traceId: context.traceId, at })
}

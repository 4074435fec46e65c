/**
 * Would it compile: a group as it would be deployed; or files in no group (yet), stored ones and texts that are kept nowhere. They are
 * flattened, refused and compiled as a deploy would do it, by agents that are asked whether their caches would take it; nothing is
 * placed, kept or changed.
 */
import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.js'
import { agentStates } from '../../resources/agent-state.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { bundleInSteps, type VclText } from '../../vcl/bundle.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { readFileTexts, toVclText } from '../files/file-texts.js'
import { selectFiles } from '../files/file-queries.js'
import { findFitting } from '../fleet/placement-target.js'
import { readFleet, type FleetAgent } from '../fleet/fleet.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { keepSource, type SourceRecord } from '../fleet/sources.js'
import { notThere, requireAll } from '../api/find-references.js'
import { runInSteps } from '../../in-steps.js'
import { scopeOf, type StateService } from '../service.js'
import { allowedModulesOf, gatherSources } from '../groups/deploy-sources.js'
import { decidePlacement } from '../placement/placing.js'
import { findShortage, readPlacingInput } from './begin.js'
import { findBudget, type CompileBudget } from '../../vcl/compile-limits.js'
import { describeFailures, type LoadFailure } from '../../vcl/compiler-text.js'
import { readAgentOwners } from '../fleet/agent-rows.js'
import { grantSource } from '../fleet/source-grants.js'
import { instructAgent } from '../agents/instruct.js'

interface ValidateRequest {
  /** `one`: the first that a deploy would use. `all`: every running agent that fits one of the deployments. */
  readonly agents?: 'one' | 'all'
  /** Also run vcl_init. */
  readonly init?: boolean
}

/** Throws FleetError as a deploy would: uncompilable, conflict, unavailable; timed-out. */
export async function validateVclGroup(
  service: StateService,
  context: Context,
  group: GroupRecord,
  { agents: wanted = 'one', init = false }: ValidateRequest,
): Promise<void> {
  const gathered = await gatherSources(service, group)
  if ('error' in gathered) throw new FleetError('uncompilable', 'deploy', gathered.error)
  const agents = await chooseFitting(service, group, wanted)
  const { source } = gathered
  const owner = group.organizationId
  await compileOnAgents(service, context, agents, { source, errorKey: 'deploy', init, owner })
}

/** Throws 'conflict' or 'unavailable' as a deploy would. */
async function chooseFitting(
  service: StateService,
  group: GroupRecord,
  wanted: 'one' | 'all',
): Promise<readonly FleetAgent[]> {
  const { queries } = service.store
  const ids = group.deployments.map(({ id }) => id)
  const input = await readPlacingInput(queries, group, ids)
  const decision = await decidePlacement(queries, { ...input, group })
  const shortage = await findShortage(queries, group, { ...input, decision })
  if (shortage) throw new FleetError(shortage.kind, 'deploy', shortage.message)
  const [first] = [...decision.keep, ...decision.add]
  const fitting = input.deployments.flatMap(({ target }) => findFitting(input.agents, target))
  const asked = new Set(wanted === 'one' ? [first?.agentId] : fitting.map(({ id }) => id))
  const chosen = input.fleet.filter(
    ({ id, state }) => asked.has(id) && state === agentStates.Running,
  )
  if (chosen.length === 0)
    throw new FleetError('unavailable', 'deploy', 'no agent is there to compile on')
  return chosen
}

/** A file at a version, the head unless given; or a text under the name that errors and include statements call it. */
export type LooseFile =
  | { readonly id: number; readonly version?: number | null | undefined }
  | { readonly name: string; readonly source: string }

interface CompileRequest {
  readonly mainVCL: LooseFile
  readonly includes: readonly LooseFile[]
  /** False: as the VCL of a group with domains, which has a prologue and hands over to no label. */
  readonly root: boolean
  /** Undefined: one that is Running. */
  readonly agents: readonly { readonly id: number }[] | undefined
  /** Also run vcl_init. */
  readonly init: boolean
}

/** Answers the agents where it compiled. Throws FleetError: invalid, uncompilable, unavailable, timed-out. */
export async function compileFiles(
  service: StateService,
  context: Context,
  actor: Actor,
  request: CompileRequest,
): Promise<readonly CompilingAgent[]> {
  const [main, ...includes] = await readTexts(service, actor, [
    request.mainVCL,
    ...request.includes,
  ])
  if (!main) throw new Error('a main file is always asked for')
  const agents = await chooseAgents(service, actor, request.agents)
  const files = { main, includes, root: request.root }
  const source = await flattenTexts(service, actor.organizationId, files)
  const { init } = request
  const owner = actor.organizationId
  await compileOnAgents(service, context, agents, { source, errorKey: 'file', init, owner })
  return agents
}

/** In the order of `files`. Throws 'invalid' for what is not there, is not the caller's, or has another's name. */
async function readTexts(
  service: StateService,
  actor: Actor,
  files: readonly LooseFile[],
): Promise<VclText[]> {
  const { queries } = service.store
  const stored = files.flatMap((file) => ('id' in file ? [file] : []))
  await requireAll(stored, 'mainVCL and includes', 'file', async (ids) => {
    const mine = selectFiles(queries, scopeOf(actor)).where('files.id', 'in', [...ids])
    return (await mine.execute()).map(({ id }) => id)
  })
  const chosen = stored.map(({ id, version = null }) => ({ id, version }))
  const found = await readFileTexts(queries, chosen)
  if (found.length < chosen.length) {
    const missing = chosen.find(({ id }, index) => found[index]?.id !== id)
    throw notThere('version', [missing?.version ?? 0], 'file')
  }
  const rest = found.values()
  return files.map((file) => {
    if (!('id' in file)) return { name: parseName(file.name, 'file'), text: file.source }
    const { value } = rest.next()
    if (!value) throw new Error('each stored file was found')
    return toVclText(value)
  })
}

/** By the VCL policy for `owner`. Throws 'uncompilable' with file and line, as a deploy does. */
export async function flattenTexts(
  service: StateService,
  owner: number | null,
  files: { readonly main: VclText; readonly includes: readonly VclText[]; readonly root: boolean },
): Promise<SourceRecord> {
  const { main, includes, root } = files
  const byName = new Map(includes.map((file) => [file.name, file]))
  if (byName.size < includes.length)
    throw new FleetError('invalid', 'file', 'includes: two of them have the same name')
  const steps = bundleInSteps(main, byName, {
    allowedExternal: service.settings.allowedIncludes,
    modules: allowedModulesOf(service, owner),
    // Of no group: the value is used for this one compile.
    prologue: root ? undefined : { groupId: 0, cacheKey: randomBytes(16).toString('hex') },
  })
  const bundle = await runInSteps(steps)
  if (!bundle.ok) throw new FleetError('uncompilable', 'file', bundle.errors.join('\n'))
  const { sha, text, sourceMap } = bundle
  return { sha, text, sourceMap }
}

/** By default the Running agent with the fewest groups. Agents named by the caller report themselves why they cannot compile. */
async function chooseAgents(
  service: StateService,
  actor: Actor,
  wanted: CompileRequest['agents'],
): Promise<readonly CompilingAgent[]> {
  const fleet = await readFleet(service.store.queries, scopeOf(actor))
  const byId = new Map(fleet.map((agent) => [agent.id, agent]))
  if (wanted) {
    const ids = await requireAll(wanted, 'agents', 'file', (all) =>
      Promise.resolve(all.filter((id) => byId.has(id))),
    )
    return ids.flatMap((id) => byId.get(id) ?? [])
  }
  const [first] = fleet
    .filter(({ state }) => state === agentStates.Running)
    .toSorted((a, b) => a.groupIds.length - b.groupIds.length)
  if (!first) throw new FleetError('unavailable', 'file', 'no agent is Running to compile on')
  return [first]
}

/** One load may take 120 s, and the manager may be busy with another. */
const compileTimeoutMs = 150_000
/** Agents that compile for a check at the same time. */
const compilingLimit = 50
/** Agents that a message names. */
const namesLimit = 20

interface CompilingAgent {
  readonly id: number
  readonly name: string
}

interface CompileOrder {
  readonly source: SourceRecord
  readonly errorKey: ErrorKey
  /** Whose the text is; on an agent of another owner that one's budget is spent. Null: the system administrator's. */
  readonly owner: number | null
  /** Also run vcl_init. */
  readonly init?: boolean | undefined
}

/** Throws FleetError: uncompilable with the author's file and line; as `instructAgent` where an agent did not answer. */
export async function compileOnAgents(
  service: StateService,
  context: Context,
  agents: readonly CompilingAgent[],
  order: CompileOrder,
): Promise<void> {
  const { source, errorKey } = order
  const { failures, silent, reason } = await compileOnAll(service, context, agents, order)
  if (failures.length > 0) {
    const text = describeFailures(failures, source.sourceMap)
    throw new FleetError('uncompilable', errorKey, text)
  }
  if (reason instanceof FleetError && silent.length > 1)
    throw new FleetError(reason.kind, errorKey, `${nameSome(silent)}: ${reason.message}`, {
      ...(reason.retryAfterSeconds !== undefined && {
        retryAfterSeconds: reason.retryAfterSeconds,
      }),
    })
  if (reason) throw reason
}

interface Compiled {
  readonly failures: readonly LoadFailure[]
  /** Names of agents that did not answer, and why the first of them did not. */
  readonly silent: readonly string[]
  readonly reason: Error | null
}

async function compileOnAll(
  service: StateService,
  context: Context,
  agents: readonly CompilingAgent[],
  order: CompileOrder,
): Promise<Compiled> {
  const failures: LoadFailure[] = []
  const silent: string[] = []
  let reason: Error | null = null
  for (let start = 0; start < agents.length; start += compilingLimit) {
    const some = agents.slice(start, start + compilingLimit)
    const ids = some.map(({ id }) => id)
    const owners = await readAgentOwners(service.store.queries, ids)
    const results = await Promise.allSettled(
      some.map((agent) => {
        const budget = findBudget(order.owner, owners.get(agent.id) ?? null)
        return compileOn(service, context, agent, { ...order, budget })
      }),
    )
    for (const [index, result] of results.entries()) {
      const agentName = some[index]?.name ?? ''
      if (result.status === 'rejected') {
        silent.push(agentName)
        reason ??= toError(result.reason)
      } else if (result.value !== null) failures.push({ agentName, error: result.value })
    }
  }
  return { failures, silent, reason }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

function nameSome(names: readonly string[]): string {
  const more = names.length - namesLimit
  return `${names.slice(0, namesLimit).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The compiler's words; null when it compiles. */
async function compileOn(
  service: StateService,
  context: Context,
  agent: CompilingAgent,
  { source, init, budget, errorKey }: CompileOrder & { readonly budget: CompileBudget | undefined },
): Promise<string | null> {
  const now = service.now()
  await service.store.transaction(async (queries) => {
    await keepSource(queries, source, now)
    const expiresAt = now + compileTimeoutMs
    await grantSource(queries, { agentId: agent.id, sha: source.sha, expiresAt }, now)
  })
  const { error, retryAfterSeconds, unavailable } = await instructAgent(service, context, {
    agentId: agent.id,
    question: {
      kind: 'compile',
      sha: source.sha,
      ...(init === true && { init }),
      ...(budget && { budget }),
    },
    timeoutMs: compileTimeoutMs,
  })
  const reason = `agent ${agent.name}: ${error ?? ''}`
  if (retryAfterSeconds !== undefined)
    throw new FleetError('limited', errorKey, reason, { retryAfterSeconds })
  if (unavailable === true) throw new FleetError('unavailable', errorKey, reason)
  return error
}

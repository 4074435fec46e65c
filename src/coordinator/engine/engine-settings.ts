/**
 * Parameters and backend health of an agent's cache: tried on the cache first, so that the caller gets the engine's own error.
 * An accepted setting is stored and is desired from then on (docs/behaviour.md, Cache settings). A refused one changes
 * nothing.
 */
import type { Context } from '../../context.js'
import { isSettableParameter } from '../../vcl/engine-command.js'
import {
  findParamProblem,
  parseBackendHealth,
  parseBackendSelection,
  type BackendHealth,
} from '../../vcl/engine-settings.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { ParamNow, Refused } from '../../messages/answers.js'
import { findAgent, type AgentRecord } from '../fleet/agent-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import {
  countSettings,
  groupsOf,
  readPlacedGroups,
  writeHealth,
  writeParam,
  type PlacedGroup,
} from '../fleet/setting-queries.js'
import { readCommonParams } from '../fleet/paramset-queries.js'
import { ownerOf } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { notifyAgentsChanged, notifyDesiredChanged } from '../agents/agent-hints.js'
import { instructAgent, requireChangeable } from '../agents/instruct.js'
import { scopeOf, type StateService } from '../service.js'

/** As for any question; a cache does not respond while it compiles. */
const answerTimeoutMs = 30_000
/** A release has some hundred parameters; the rest is for backends. */
const settingsLimit = 1000

/** The cache's reply: a refusal, in its own words, or the new value. */
export type SettingAnswer<Value> = Refused | { readonly value: Value }

interface HealthNow {
  /** As given by the caller: `default`, or `12.default`. */
  readonly name: string
  readonly health: BackendHealth
  /** The backends that were set, as `<VCL>.<backend>`. */
  readonly backends: readonly string[]
}

/**
 * `value` null: resets to the value of the cache's parameter set, else to the default. Throws FleetError 'agent': invalid (it may
 * not be set, or is not a parameter), conflict (read-only), locked, unavailable, timed-out.
 */
export async function setParameter(
  service: StateService,
  context: Context,
  agent: AgentRecord,
  { name, value }: { readonly name: string; readonly value: string | null },
): Promise<SettingAnswer<ParamNow>> {
  if (!isSettableParameter(name)) throw invalid(`parameter ${name} may not be changed by anyone`)
  const problem = findParamProblem(name, value)
  if (problem !== null) throw invalid(problem)
  requireChangeable(agent)
  const tried = value ?? (await findCommonParam(service, agent, name))
  const question = { kind: 'setParam', name, value: tried } as const
  const asked = { agentId: agent.id, question, timeoutMs: answerTimeoutMs }
  const answer = await instructAgent(service, context, asked)
  if (answer.refusal !== null) return { refusal: answer.refusal }
  await store(service, context, agent, (queries) => writeParam(queries, agent.id, { name, value }))
  return { value: answer }
}

/** The value in the parameter set of the cache's group; null: none. */
async function findCommonParam(
  { store }: StateService,
  { id }: AgentRecord,
  name: string,
): Promise<string | null> {
  const common = (await readCommonParams(store.queries, [id])).get(id) ?? {}
  return new Map(Object.entries(common)).get(name) ?? null
}

interface HealthRequest {
  readonly name: string
  readonly health: string
}

/** Throws as setParameter, and 'not-found' if no VCL that the caller may see has such a backend. */
export async function setBackendHealth(
  service: StateService,
  context: Context,
  caller: { readonly actor: Actor; readonly agent: AgentRecord },
  request: HealthRequest,
): Promise<SettingAnswer<HealthNow>> {
  const { actor, agent } = caller
  const { name } = request
  const health = parseBackendHealth(request.health)
  if (health === null)
    throw invalid(
      `health is ${JSON.stringify(request.health.slice(0, 80))}; it must be healthy, sick or auto`,
    )
  const selection = parseBackendSelection(name)
  if (selection === null)
    throw invalid(
      `${JSON.stringify(name.slice(0, 80))} is not a backend: use its name in VCL, or <group id>.<name>; patterns are not allowed`,
    )
  requireChangeable(agent)
  const { backend, groupId } = selection
  const scope = scopeOf(actor)
  const group = groupId === null ? null : await findPlacedGroup(service, actor, agent, groupId)
  if (group === undefined) throw notFound(name, agent)
  const placed = await readPlacedGroups(service.store.queries, { kind: 'all' }, agent.id)
  const groups = group ? [group.groupId] : groupsOf(ownerOf(scope), placed)
  const question = { kind: 'setHealth', backend, groups, health } as const
  const asked = { agentId: agent.id, question, timeoutMs: answerTimeoutMs }
  const answer = await instructAgent(service, context, asked)
  if (answer.refusal !== null) return { refusal: answer.refusal }
  if (answer.backends.length === 0) throw notFound(name, agent)
  await store(service, context, agent, (queries) =>
    writeHealth(queries, scope, agent.id, { backend, health, group }),
  )
  return { value: { name, health, backends: answer.backends } }
}

/** A refusal is the caller's error, reported in the cache's own words. Throws 'not-found' or 'invalid'. */
export function requireTaken<Value>(answer: SettingAnswer<Value>, name: string): Value {
  if ('value' in answer) return answer.value
  if (answer.refusal.startsWith('Unknown parameter'))
    throw new FleetError('not-found', 'agent', `${name} was not found: ${answer.refusal}`)
  throw invalid(answer.refusal)
}

async function findPlacedGroup(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
  groupId: number,
): Promise<PlacedGroup | undefined> {
  const visible = await readPlacedGroups(service.store.queries, scopeOf(actor), agent.id)
  return visible.find((group) => group.groupId === groupId)
}

async function store(
  service: StateService,
  context: Context,
  agent: AgentRecord,
  write: (queries: Queries) => Promise<void>,
): Promise<void> {
  const changed = await service.store.decide(async (queries) => {
    const isThere = await findAgent(queries, { kind: 'all' }, agent.id)
    if (!isThere) throw new FleetError('not-found', 'agent', `${agent.id} was not found`)
    await write(queries)
    if ((await countSettings(queries, agent.id)) > settingsLimit)
      throw new FleetError(
        'conflict',
        'agent',
        `agent ${agent.name} has ${settingsLimit} settings, which is the most; reset some`,
      )
    return recomposeDesired(queries, [agent.id])
  })
  notifyDesiredChanged(service, changed, context.traceId)
  notifyAgentsChanged(service, changed)
}

function invalid(message: string): FleetError {
  return new FleetError('invalid', 'agent', message)
}

function notFound(name: string, agent: AgentRecord): FleetError {
  return new FleetError(
    'not-found',
    'agent',
    `${name} was not found: no VCL of ours on agent ${agent.name} has such a backend`,
  )
}

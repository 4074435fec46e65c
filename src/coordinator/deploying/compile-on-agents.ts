/** Checks whether the caches of some agents would compile a flattened text. Nothing is placed, kept or changed there. */
import type { Context } from '../../context.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { titleOfRelease, unknownRelease, type CacheRelease } from '../../resources/cache-release.js'
import { findBudget, type CompileBudget } from '../../vcl/compile-limits.js'
import { describeFailures, type LoadFailure } from '../../vcl/compiler-text.js'
import { instructAgent } from '../agents/instruct.js'
import { readAgentOwners } from '../fleet/agent-rows.js'
import { grantSource } from '../fleet/source-grants.js'
import { keepSource, type SourceRecord } from '../fleet/sources.js'
import type { StateService } from '../service.js'

/** One load may take 120 s, and the cache's manager process may be busy with another. */
const compileTimeoutMs = 150_000
/** Agents that compile at the same time for one check. */
const compilingLimit = 50
/** Maximum number of agents named in a message. */
const namesLimit = 20

export interface CompilingAgent {
  readonly id: number
  readonly name: string
  /** The release of its cache. */
  readonly release: CacheRelease
}

interface CompileOrder {
  readonly source: SourceRecord
  readonly errorKey: ErrorKey
  /** The owner of the text, whose budget is charged on agents of other owners. Null: the system administrator. */
  readonly owner: number | null
  /** Also run vcl_init. */
  readonly init?: boolean | undefined
}

/** Throws FleetError: uncompilable with the author's file and line; as `instructAgent` if an agent did not respond. */
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
  /** Names of the agents that did not respond; `reason` is the error of the first one. */
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
      const { name: agentName = '', release = unknownRelease } = some[index] ?? {}
      if (result.status === 'rejected') {
        silent.push(agentName)
        reason ??= toError(result.reason)
      } else if (result.value !== null)
        failures.push({ agentName, release: titleOfRelease(release), error: result.value })
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

/** Returns the compiler's error text; null if the text compiles. */
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

/** The current status of a cache, as the cache reports it, and its consistency; for a cache that does not respond, why. */
import { agentStates } from '../../../resources/agent-state.js'
import { judgeConsistency, type Consistency } from './cache-consistency.js'
import type { DesiredEngine } from '../../../vcl/desired-engine.js'
import { FleetError } from '../../../errors.js'
import type { Context } from '../../../context.js'
import type { Parameter, QueryAnswers, VclRow } from '../../../messages/answers.js'
import type { QueryName } from '../../../messages/coordinator-to-agent.js'
import { readDesiredRows } from '../../fleet/agent-rows.js'
import { askAgent, askAgentFor, askEngine, keepVisible } from '../../engine/agent-questions.js'
import { ownsAgent } from '../../agents/agents.js'
import type { Caller } from '../../engine/setting-commands.js'
import type { StateService } from '../../service.js'

/** docs/behaviour.md, Console caches: an absent agent is shown within 10 s. */
const answerTimeoutMs = 8_000

/** Why a cache cannot be queried. */
export interface Absence {
  readonly absent: string
}

export interface CacheStatus {
  /** As the cache reports it: `PONG 1700000000 1.0`. */
  readonly ping: string
  readonly status: string
  /** Empty when hidden from this caller, on a shared agent. */
  readonly panic: string
  readonly vcls: readonly VclRow[]
  /** Parameters that are not at their defaults. */
  readonly changed: ReadonlyMap<string, Parameter>
}

export function readCacheStatus(
  service: StateService,
  context: Context,
  caller: Caller,
): Promise<CacheStatus | Absence> {
  const { actor, agent } = caller
  const askLine = async (line: string) =>
    (await askEngine(service, context, agent, { line, timeoutMs: answerTimeoutMs })).trim()
  const ask = <Name extends QueryName>(query: Name) =>
    askAgentFor(service, context, caller, { query, timeoutMs: answerTimeoutMs })
  return unlessAbsent(caller, async () => {
    const [ping, status, vcls, params, panic] = await Promise.all([
      askLine('ping'),
      askLine('status'),
      ask('vcls'),
      ask('params'),
      ask('panic'),
    ])
    return {
      ping,
      status,
      panic: ownsAgent(actor, agent) ? toPanicText(panic) : '',
      vcls,
      changed: listChanged(params),
    }
  })
}

export function readConsistency(
  service: StateService,
  context: Context,
  caller: Caller,
): Promise<Consistency | Absence> {
  const { agent } = caller
  return unlessAbsent(caller, async () => {
    const timeoutMs = answerTimeoutMs
    const [[row], vcls, params] = await Promise.all([
      readDesiredRows(service.store.queries, [agent.id]),
      askAgent(service, context, agent, { query: 'vcls', timeoutMs }),
      askAgent(service, context, agent, { query: 'params', timeoutMs }),
    ])
    if (!row) throw new FleetError('not-found', 'cache', 'the cache was deleted meanwhile')
    const isEffective = agent.effectiveRevision === row.desiredRevision
    const desired = JSON.parse(row.desired) as DesiredEngine // written by recomposeDesired only
    const judged = judgeConsistency(desired, {
      vcls,
      params: new Map(Object.entries(params)),
      isEffective,
    })
    const visible = await keepVisible(service, caller, [{ name: judged.vclName }])
    return { ...judged, vclName: visible[0]?.name ?? '' }
  })
}

/** Returns at once for an agent that is known to be Down. */
async function unlessAbsent<Answer>(
  { agent }: Caller,
  ask: () => Promise<Answer>,
): Promise<Answer | Absence> {
  if (agent.state === agentStates.Down)
    return { absent: `agent ${agent.name} is Down: it is not connected` }
  try {
    return await ask()
  } catch (error) {
    const isAbsent =
      error instanceof FleetError && ['unavailable', 'timed-out'].includes(error.kind)
    if (!isAbsent) throw error
    return { absent: error.message }
  }
}

/** In varnishd's own words when there was no panic. */
function toPanicText(panic: unknown): string {
  return typeof panic === 'string' ? panic : 'Child has not panicked or panic has been cleared'
}

function listChanged(params: QueryAnswers['params']): ReadonlyMap<string, Parameter> {
  const isChanged = ({ value, default: standard }: Parameter) => value !== standard
  return new Map(Object.entries(params).filter(([, parameter]) => isChanged(parameter)))
}

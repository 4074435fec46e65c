/** The turn of a group verb: one deploy of a group at a time, the later waits for the earlier (choices: 3, Deploy). */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { DeployAction, DeployRecord } from '../fleet/deploy-queries.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { isForeignKeyViolation, isUniqueViolation } from '../store/violation.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import type { StateService } from '../service.js'
import type { GatheredFiles } from '../groups/deploy-sources.js'
import { recordRefusedDeploy } from '../groups/history.js'

export interface TurnRequest {
  readonly actor: Actor
  readonly groupId: number
  readonly action: DeployAction
  /** Another deploy of the group is waited for until then, then 409. */
  readonly untilMs: number
}

export type Begun =
  | Refused
  | { readonly kind: 'begun'; readonly deploy: DeployRecord; readonly agentIds: readonly number[] }
  /** Nothing to load. */
  | {
      readonly kind: 'unchanged' | 'switching'
      /** Whose desired state changed all the same. */
      readonly agentIds?: readonly number[]
    }
  | { readonly kind: 'busy' }

export interface Refused {
  readonly kind: 'refused'
  readonly because: 'conflict' | 'unavailable' | 'uncompilable'
  readonly message: string
  readonly group: GroupRecord
  readonly gathered: GatheredFiles
}

/** Answers the deploy that now runs, or 'unchanged' when every cache serves this already, 'switching' when it will. */
export async function beginInTurn(
  service: StateService,
  context: Context,
  request: TurnRequest,
  tryBegin: (queries: Queries) => Promise<Begun>,
): Promise<DeployRecord | 'unchanged' | 'switching'> {
  const begun = await watchAgents(
    service,
    async () => {
      const tried = await service.store.decide(tryBegin).catch(refuseTaken)
      return tried.kind === 'busy' ? undefined : tried
    },
    { untilMs: request.untilMs, signal: service.background.signal },
  )
  if (!begun)
    throw new FleetError('conflict', 'deploy', 'another deploy of this group is in progress')
  if (begun.kind === 'refused') {
    await recordRefusedDeploy(service, { ...request, ...begun, result: begun.message })
    throw new FleetError(begun.because, 'deploy', begun.message)
  }
  tellDesiredChanged(service, begun.agentIds ?? [], context.traceId)
  if (begun.kind !== 'begun') return begun.kind
  context.log.info(
    { group: request.groupId, revision: begun.deploy.revision, agents: begun.agentIds.length },
    `${request.action}: loading`,
  )
  return begun.deploy
}

/** The tables hold what was decided: nothing of it was kept. What is referred to may have gone since it was looked up. */
function refuseTaken(error: unknown): never {
  if (isForeignKeyViolation(error))
    throw new FleetError(
      'conflict',
      'deploy',
      'something that this refers to was deleted meanwhile',
    )
  if (!isUniqueViolation(error)) throw error
  throw new FleetError(
    'conflict',
    'deploy',
    'another group has one of the domains on an agent that this one needs',
  )
}

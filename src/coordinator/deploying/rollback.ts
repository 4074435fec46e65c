/**
 * Back to an earlier revision of a group (choices: 3, Deploy): a deploy of the text that it had. Where a cache still holds
 * that VCL, phase one has nothing to load and the rollback is a switch.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { isEarlierVcl } from '../fleet/vcl-group.js'
import { findNewestRevision, findRevision, type HistoryEntry } from '../fleet/history-queries.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { runVerb, type VerbAnswer, type VerbRequest } from './deploy.js'
import { recallSources } from '../groups/recall-sources.js'
import type { StateService } from '../service.js'

export interface RollbackRequest extends VerbRequest {
  /** Null: the newest one with other sources. */
  readonly revision: number | null
}

/** Throws FleetError: not-found (also of the revision), conflict, unavailable, uncompilable. */
export function rollBackVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: RollbackRequest,
): Promise<VerbAnswer> {
  const { groupId, revision } = request
  return runVerb(service, context, request, {
    actor,
    groupId,
    action: 'rollback',
    choose: async (queries, group) => {
      const { sources } = await findTarget(queries, group, revision)
      const wished = { ...sources, ...keepTargets(group) }
      const gathered = await recallSources(service, queries, group, wished)
      return { gathered, naming: { earlier: sources.programName } }
    },
    untilMs: service.now() + request.waitMs,
  })
}

/** Which revision's sources are deployed. Throws 'not-found'. */
async function findTarget(
  queries: Queries,
  { id, wish }: GroupRecord,
  wanted: number | null,
): Promise<HistoryEntry> {
  const entry =
    wanted === null
      ? await findNewestRevision(queries, id, (revision) => isEarlierVcl(revision, wish))
      : await findRevision(queries, id, wanted)
  if (entry) return entry
  const message =
    wanted === null
      ? 'there is no earlier revision of this group with other sources'
      : `revision ${wanted} was not found`
  throw new FleetError('not-found', 'deploy', message)
}

/** Chosen by us: a rollback moves nothing. The deployments of that time may be gone, and others are in force. */
function keepTargets({ wish, deployments }: GroupRecord) {
  return { deploymentIds: wish?.deploymentIds ?? deployments.map(({ id }) => id) }
}

/** The history of a group (choices: 3, `/history`): written with every decision, also with a refusal. */
import type { Actor } from '../../resources/permission.js'
import { addHistory, readHistory, type HistoryEntry } from '../fleet/history-queries.js'
import type { DeployAction } from '../fleet/deploy-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { GatheredFiles } from './deploy-sources.js'
import type { StateService } from '../service.js'

/** Newest first. */
export function readGroupHistory(
  service: StateService,
  group: Pick<GroupRecord, 'id'>,
): Promise<HistoryEntry[]> {
  return readHistory(service.store.queries, group.id)
}

/** A deploy that was refused before anything was placed. */
export async function recordRefusedDeploy(
  service: StateService,
  refusal: {
    readonly actor: Actor
    readonly action: DeployAction
    readonly group: GroupRecord
    readonly gathered: GatheredFiles
    /** The error text. */
    readonly result: string
  },
): Promise<void> {
  const { actor, action, group, gathered, result } = refusal
  await service.store.transaction((queries) =>
    addHistory(queries, {
      groupId: group.id,
      organizationId: group.organizationId,
      revision: null,
      at: service.now(),
      account: actor.accountName,
      action,
      result,
      sources: {
        mainVCL: gathered.mainVCL,
        includes: gathered.includes,
        deploymentIds: gathered.deploymentIds,
        domains: gathered.domains,
        sha: '',
        programName: '',
      },
    }),
  )
}

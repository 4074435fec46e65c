/** Why a deploy is no longer that of the process which ran it: an administrator ended it, or another coordinator did. */
import { FleetError } from '../../errors.js'
import type { DeployRecord } from '../fleet/deploy-queries.js'
import { findDeployResult } from '../fleet/history-queries.js'
import type { StateService } from '../service.js'

const cancelled = 'cancelled by '

/** The result of a deploy that an administrator ended. */
export function describeCancel(account: string): string {
  return `${cancelled}${account}`
}

/** What the caller of a deploy is answered that somebody else has ended. */
export async function explainEnd(
  service: StateService,
  deploy: Pick<DeployRecord, 'id' | 'groupId'>,
): Promise<FleetError> {
  const result = await findDeployResult(service.store.queries, deploy)
  return result?.startsWith(cancelled) === true
    ? new FleetError('conflict', 'deploy', result)
    : new FleetError('unavailable', 'deploy', takenOver)
}

/** This process could not prolong its lease: it slept, or the store was away. */
const takenOver = 'another coordinator took this deploy over and ended it; its history says how'

/** If a rollout blocks an action on its group, names the rollout and offers to abort it first. */
import { rolloutStates, type Rollout } from '../../../../resources/rollout.js'
import { call } from '../../../api/call.js'
import type { CallError } from '../../../api/http.js'
import { confirmDestruction } from '../../../parts/confirm.js'
import { describeRollout } from './describe-rollout.js'

/** Returns whether to retry with `abort=true`; null: no rollout blocks, or it is already rolling back and must end first. */
export async function offerAbort({ status, rolloutId }: CallError): Promise<boolean | null> {
  if (status !== 409 || rolloutId === undefined) return null
  const found = await call<Rollout>('GET', `/rollouts/${rolloutId}`)
  if (!found.ok || found.value.state >= rolloutStates.RollingBack) return null
  const { vclGroup, fromRevision, account } = found.value
  return confirmDestruction({
    title: `Abort the rollout of ${vclGroup.name} first?`,
    text: `${describeRollout(found.value)}, begun by ${account}. All caches go back to revision ${fromRevision}, then this is done.`,
    verb: 'Abort rollout and continue',
  })
}

/** How other calls treat a running rollout: they wait for its end, abort it, or are refused meanwhile. */
import type { Context } from '../../context.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { isEnded, rolloutStates } from '../../resources/rollout.js'
import { watchAgents } from '../agents/watch-agents.js'
import { rolloutsChangedSubject } from '../bus/subjects.js'
import { findRunningRollout, readRollouts, type RolloutRecord } from '../fleet/rollout-queries.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { carryOut } from './carry-out.js'

/** Throws 'conflict', naming the rollout, while one of the group runs. */
export async function requireNoRollout(
  queries: Queries,
  groupId: number,
  errorKey: ErrorKey = 'deploy',
): Promise<void> {
  const running = await findRunningRollout(queries, groupId)
  if (!running) return
  const { id, state } = running
  const isGoingBack = state === rolloutStates.RollingBack
  throw new FleetError(
    'conflict',
    errorKey,
    isGoingBack
      ? `rollout ${id} of this group is rolling back; try again when all of its agents are back`
      : `rollout ${id} of this group is running; wait for its end, or abort it first with ?abort=true`,
    { rolloutId: id },
  )
}

/** Returns true if it has succeeded, false if it still runs. Throws 'uncompilable' with the reason if it ended otherwise. */
export async function waitForRollout(
  service: StateService,
  id: number,
  untilMs: number,
): Promise<boolean> {
  const poll = async (): Promise<RolloutRecord | undefined> => {
    const [rollout] = await readRollouts(service.store.queries, [id])
    return rollout && isEnded(rollout.state) ? rollout : undefined
  }
  const ended = await watchAgents(service, poll, untilMs, {
    hints: rolloutsChangedSubject,
  })
  if (!ended) return false
  if (ended.state === rolloutStates.Succeeded) return true
  throw new FleetError(
    'uncompilable',
    'deploy',
    `rollout ${id} did not succeed: ${ended.reason ?? ''}`,
    {
      rolloutId: id,
    },
  )
}

/** Waits until `untilMs` at most for all of its agents to go back; absent agents do so on their own when they reconnect. */
export async function abortRunning(
  service: StateService,
  context: Context,
  groupId: number,
  { account, untilMs }: { readonly account: string; readonly untilMs: number },
): Promise<void> {
  const running = await findRunningRollout(service.store.queries, groupId)
  if (!running) return
  const { id } = running
  await carryOut(service, context, id, ({ state }) =>
    state < rolloutStates.RollingBack
      ? { step: { do: 'rollBack', reason: `aborted by ${account}`, isAborted: true } }
      : undefined,
  )
  await waitForRollout(service, id, untilMs).catch((error: unknown) => {
    if (!(error instanceof FleetError)) throw error
  })
}

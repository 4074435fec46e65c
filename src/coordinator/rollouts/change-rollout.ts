/** What people say to a rollout that runs: pause, resume, advance, abort. */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { RolloutRecord, WaveRecord } from '../fleet/rollout-queries.js'
import type { StateService } from '../service.js'
import { carryOut } from './carry-out.js'
import { judgeVerb, type RolloutVerb } from './next-step.js'
import { toCourse, type CourseStep } from './rollout-course.js'

interface RolloutCommand {
  readonly verb: RolloutVerb
  readonly account: string
  /** By an administrator: also while its organization is frozen. */
  readonly isForced: boolean
}

/** Throws 'conflict' if its state does not allow that. */
export async function changeRollout(
  service: StateService,
  context: Context,
  id: number,
  command: RolloutCommand,
): Promise<RolloutRecord> {
  const changed = await carryOut(service, context, id, (rollout) => ({
    step: chooseCommanded(rollout, command),
    ...(command.isForced && { seen: { waves: markForced(rollout, service.now()) } }),
  }))
  if (!changed) throw new FleetError('not-found', 'rollout', `${id} was not found`)
  return changed
}

/** A freeze that stood by then holds it no more. */
function markForced({ waves, wave }: RolloutRecord, forcedAt: number): readonly WaveRecord[] {
  return waves.map((one, at) => (at === wave - 1 ? { ...one, forcedAt } : one))
}

function chooseCommanded(rollout: RolloutRecord, { verb, account }: RolloutCommand): CourseStep {
  const judged = judgeVerb(verb, toCourse(rollout))
  if (typeof judged === 'object')
    throw new FleetError('conflict', 'rollout', `${verb}: ${judged.refused}`)
  switch (judged) {
    case 'pause':
      return { do: 'pause', verdict: null, reason: `paused by ${account}` }
    case 'bakeAnew':
      return { do: 'bakeAnew' }
    case 'rollBack':
      return { do: 'rollBack', reason: `aborted by ${account}`, isAborted: true }
    case 'next':
    case 'succeed':
      return { do: judged, verdict: 'pass' }
  }
}

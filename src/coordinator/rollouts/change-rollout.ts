/** Verbs of users for a running rollout: pause, resume, advance, abort. */
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
  /** Forced by an administrator: also allowed while the organization is frozen. */
  readonly isForced: boolean
}

/** Throws 'conflict' if the verb does not apply. */
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

/** A freeze that was set before this time no longer holds the rollout. */
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

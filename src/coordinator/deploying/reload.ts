/** Compiling what a group serves once more, under a new name: names in backends are looked up anew (choices: 3, Deploy). */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { runVerb, type VerbAnswer, type VerbRequest } from './deploy.js'
import { recallSources } from '../groups/recall-sources.js'
import type { StateService } from '../service.js'

/** Throws FleetError: not-found, conflict (also when the group is not deployed), unavailable, uncompilable. */
export function reloadVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: VerbRequest,
): Promise<VerbAnswer> {
  return runVerb(service, context, request, {
    actor,
    groupId: request.groupId,
    action: 'reload',
    choose: async (queries, group) => {
      const { wish } = group
      if (!wish)
        throw new FleetError('conflict', 'deploy', 'the group is not deployed; deploy it first')
      return { gathered: await recallSources(service, queries, group, wish), naming: 'new' }
    },
    untilMs: service.now() + request.waitMs,
  })
}

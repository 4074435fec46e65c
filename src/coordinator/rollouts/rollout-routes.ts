/** `/rollouts`: deploys that switch in waves: what they are at, and what people say to them (docs/behaviour.md, Rollouts). */
import { rollout } from '../../resources/rollout.js'
import { getRoute, listRoute } from '../api/resource-routes.js'
import { findRollout } from '../fleet/rollout-queries.js'
import { route, type Route } from '../http/route.js'
import { scopeOf, type StateService } from '../service.js'
import { changeRollout } from './change-rollout.js'
import type { RolloutVerb } from './next-step.js'
import {
  rolloutListing,
  rolloutSchema,
  toListedRollout,
  toRolloutView,
  viewRollout,
} from './rollout-view.js'

const verbs: Readonly<Record<RolloutVerb, string>> = {
  pause: 'Pauses it: its waves stay as they are',
  resume: 'Resumes what is paused: its wave bakes anew',
  advance: 'Ends the bake, or a pause, as passed: the next wave begins, or it has succeeded',
  abort: 'Aborts it: all agents go back to the release before',
}

export function rolloutRoutes(service: StateService): readonly Route[] {
  const rollouts = { resource: rollout, title: 'Rollout' } as const
  return [
    listRoute(service, {
      ...rollouts,
      summaries: { list: 'Rollouts of VCL groups, kept for 90 days' },
      listing: rolloutListing,
      listed: rolloutSchema,
      toListed: toListedRollout,
    }),
    getRoute(service, {
      ...rollouts,
      summaries: { get: 'One rollout, with its waves, agents and gates' },
      find: findRollout,
      answer: rolloutSchema,
      view: viewRollout,
      toAnswer: toRolloutView,
    }),
    ...Object.entries(verbs).map(([verb, summary]) =>
      route({
        method: 'PUT',
        path: `/rollouts/{id}/${verb}`,
        operationId: `${verb}Rollout`,
        summary: `${summary}; 409 where that cannot be`,
        errorKey: 'rollout',
        permission: { type: 'vclgroup', access: 'write' },
        find: (_, actor, id) => findRollout(service.store.queries, scopeOf(actor), id),
        answers: { 200: rolloutSchema },
        handle: async ({ context, actor, object }) => {
          const asked = { verb: verb as RolloutVerb, account: actor.accountName }
          const changed = await changeRollout(service, context, object.id, asked)
          return { status: 200, body: toRolloutView(await viewRollout(service, changed)) }
        },
      }),
    ),
  ]
}

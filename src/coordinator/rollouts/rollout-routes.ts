/** `/rollouts`: deploys that switch in waves, their progress, and the verbs of users (docs/behaviour.md, Rollouts). */
import { Type } from 'typebox'
import { rollout } from '../../resources/rollout.js'
import { getRoute, listRoute } from '../api/resource-routes.js'
import { findRollout } from '../fleet/rollout-queries.js'
import { route, type Route } from '../http/route.js'
import { forceKey, requireThawed } from '../identity/require-thawed.js'
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

interface VerbOfRollout {
  readonly summary: string
  /** It changes caches: during a freeze only an administrator may do it. */
  readonly isThawed: boolean
}

const verbs: Readonly<Record<RolloutVerb, VerbOfRollout>> = {
  pause: { summary: 'Pauses it: its waves stay as they are', isThawed: false },
  resume: { summary: 'Resumes a paused rollout: its wave bakes again', isThawed: true },
  advance: {
    summary: 'Ends the bake, or a pause, as passed: the next wave begins, or the rollout succeeds',
    isThawed: true,
  },
  abort: { summary: 'Aborts it: all agents go back to the previous release', isThawed: false },
}

const forceQuery = Type.Object(forceKey, { additionalProperties: false })

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
    ...Object.entries(verbs).map(([verb, { summary, isThawed }]) =>
      route({
        method: 'PUT',
        path: `/rollouts/{id}/${verb}`,
        operationId: `${verb}Rollout`,
        summary: `${summary}; 409 if its state does not allow that`,
        errorKey: 'rollout',
        permission: { type: 'vclgroup', access: 'write' },
        ...(isThawed && { query: forceQuery }),
        find: (_, actor, id) => findRollout(service.store.queries, scopeOf(actor), id),
        answers: { 200: rolloutSchema },
        handle: async (call) => {
          const { context, actor, object } = call
          const { id, organizationId, groupName: name } = object
          const ofGroup = { ...call, object: { organizationId, name } }
          if (isThawed) await requireThawed(service, ofGroup, 'rollout')
          const isForced = call.query.force === true
          const asked = { verb: verb as RolloutVerb, account: actor.accountName, isForced }
          const changed = await changeRollout(service, context, id, asked)
          return { status: 200, body: toRolloutView(await viewRollout(service, changed)) }
        },
      }),
    ),
  ]
}

/** At the start of a coordinator: deploys that a stopped process left before their decision are discarded. */
import type { Context } from '../../context.js'
import { readDeploys } from '../../store/deploys.js'
import { decideDeploy } from './deploy-decision.js'
import type { StateService } from './service.js'

export async function discardUnfinishedDeploys(
  service: StateService,
  context: Context,
): Promise<void> {
  for (const deploy of await readDeploys(service.store.queries))
    await decideDeploy(service, { ...context, traceId: deploy.traceId }, deploy, {
      kind: 'unavailable',
      message: 'the coordinator stopped before the caches had loaded',
    })
}

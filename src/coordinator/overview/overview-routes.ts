/** `/overview`: the whole fleet at a glance (docs/behaviour.md, Overview). */
import { overview, overviewPath } from '../../resources/overview.js'
import { answerSchema } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { createFleetFigures } from './fleet-figures.js'
import { createFleetStates } from './fleet-states.js'
import { readOverview, type OverviewParts } from './read-overview.js'

const overviewSchema = answerSchema(overview)

export function overviewRoutes(service: StateService): readonly Route[] {
  // The caches are created by the first request.
  let parts: OverviewParts | undefined
  return [
    route({
      method: 'GET',
      path: overviewPath,
      operationId: 'getOverview',
      summary:
        'States, figures, problems and changes of the fleet, as far as you may see it; a part that you may not read is null',
      errorKey: 'overview',
      permission: 'anyone',
      answers: { 200: overviewSchema },
      handle: async ({ actor }) => {
        parts ??= openParts(service)
        return { status: 200, body: await readOverview(parts, actor) }
      },
    }),
  ]
}

function openParts(service: StateService): OverviewParts {
  return {
    service,
    states: createFleetStates(service),
    figures: createFleetFigures(service),
  }
}

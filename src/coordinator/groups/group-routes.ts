/** `/vclgroups`: a main VCL, its includes, its domains, and the deployments that place it. Verbs: deploying/verb-routes.ts. */
import { vclGroup } from '../../resources/vclgroup.js'
import { resourceRoutes } from '../api/resource-routes.js'
import { findGroup } from '../fleet/group-queries.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { groupSchema, toGroupFields, toGroupView } from './group-views.js'
import { createGroup, deleteGroup, groupListing, updateGroup, viewGroup } from './groups.js'

export function vclGroupRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    resource: vclGroup,
    title: 'VclGroup',
    summaries: {
      list: 'VCL groups with their state and places',
      create: 'Creates a VCL group; nothing is deployed by that',
      get: 'One VCL group',
      update: 'Changes a VCL group; it takes effect at its next deploy',
      delete: 'Deletes a VCL group; 409 while it is deployed',
    },
    listing: groupListing,
    listed: groupSchema,
    toListed: toGroupView,
    find: findGroup,
    toEdited: toGroupFields,
    answer: groupSchema,
    view: viewGroup,
    toAnswer: toGroupView,
    create: createGroup,
    update: updateGroup,
    remove: deleteGroup,
  })
}

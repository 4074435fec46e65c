/** `/tags`: what an organization labels its agents with. */
import { tag } from '../../resources/tag.js'
import { requireOwner } from '../api/find-references.js'
import { resourceRoutes } from '../api/resource-routes.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { tagAnswers } from './tag-view.js'
import { createTag, deleteTag, tagReading, updateTag } from './tags.js'

export function tagRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    ...tagReading,
    ...tagAnswers,
    resource: tag,
    title: 'Tag',
    summaries: {
      list: 'Tags that you may see',
      create: 'Creates a tag',
      get: 'One tag',
      update: 'Changes a tag; another name is 409 while an agent sends it',
      delete: 'Deletes a tag; 409 while a deployment has it or an agent sends it',
    },
    requireChangeable: (actor, found) => {
      requireOwner(actor, found, 'tag')
    },
    create: createTag,
    update: updateTag,
    remove: deleteTag,
  })
}

/** `/domains`: the names that VCL groups answer for. */
import { domain } from '../../resources/domain.js'
import type { Route } from '../http/route.js'
import { resourceRoutes } from '../api/resource-routes.js'
import type { StateService } from '../service.js'
import { domainReading } from './domain-queries.js'
import { domainAnswers } from './domain-view.js'
import { createDomain, deleteDomain, updateDomain } from './domains.js'

export function domainRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    ...domainReading,
    ...domainAnswers,
    resource: domain,
    title: 'Domain',
    summaries: {
      list: 'Domains',
      create: 'Creates a domain',
      get: 'One domain',
      update: 'Changes a domain; another name is 409 while a group is deployed with it',
      delete: 'Deletes a domain; 409 while a VCL group has it',
    },
    create: createDomain,
    update: updateDomain,
    remove: deleteDomain,
  })
}

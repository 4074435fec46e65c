/** The objects with statistics (cache, group, domain), their caches and their figures (docs/behaviour.md, Statistics). */
import { nameDomain } from '../../resources/counters.js'
import { findAgent, type AgentRecord } from '../agents/agents.js'
import { domainReading, type DomainRecord } from '../domains/domain-queries.js'
import { findGroup } from '../fleet/group-queries.js'
import type { Route } from '../http/route.js'
import { scopeOf, type StateService } from '../service.js'
import { graphNames } from './archive/graphs.js'
import { trafficGraphNames } from './archive/traffic-graphs.js'
import { askCache, askGroupCaches } from './asked-caches.js'
import { openSeries } from './counter-series.js'
import { openFigures } from './figure-series.js'
import { readGroupsWithDomain } from './find-figures.js'
import { seriesRoutes, type SeriesSubject } from './series-routes.js'

const read = { type: 'stats', access: 'read' } as const

export function subjectRoutes(service: StateService): readonly Route[] {
  return [
    ...seriesRoutes(describeAgents(service)),
    ...seriesRoutes(describeGroups(service)),
    ...seriesRoutes(describeDomains(service)),
  ]
}

function describeAgents(service: StateService): SeriesSubject<AgentRecord> {
  return {
    path: '/agents/{id}',
    noun: 'Agent',
    errorKey: 'agent',
    what: 'of a cache',
    permission: { ...read, alsoReads: 'agent' },
    find: (actor, id) => findAgent(service, actor, id),
    open: (actor, agent, question) =>
      Promise.resolve(
        openSeries(service, { ...question, actor, caches: [askCache(actor, agent)] }),
      ),
  }
}

function describeGroups(service: StateService): SeriesSubject<{ readonly id: number }> {
  return {
    path: '/vclgroups/{id}',
    noun: 'VclGroup',
    errorKey: 'vclgroup',
    what: 'summed over the caches of a group',
    permission: { ...read, alsoReads: 'vclgroup' },
    find: (actor, id) => findGroup(service.store.queries, scopeOf(actor), id),
    open: async (actor, { id }, question) =>
      openSeries(service, {
        ...question,
        actor,
        figuresOf: [`GROUP.${id}`],
        caches: await askGroupCaches(service, actor, [id]),
      }),
    graphs: [...graphNames, ...trafficGraphNames],
  }
}

function describeDomains(service: StateService): SeriesSubject<DomainRecord> {
  return {
    path: '/domains/{id}',
    noun: 'Domain',
    errorKey: 'domain',
    what: 'of the requests for a domain, summed over the caches of the groups that have it',
    permission: { ...read, alsoReads: 'domain' },
    find: (actor, id) => domainReading.find(service.store.queries, scopeOf(actor), id),
    open: async (actor, { id, fqdn }, question) => {
      const groupIds = await readGroupsWithDomain(service, actor, id)
      const figuresOf = groupIds.map((groupId) => nameDomain(groupId, fqdn))
      const caches = await askGroupCaches(service, actor, groupIds)
      return openFigures(service, { ...question, actor, figuresOf, caches })
    },
    graphs: trafficGraphNames,
  }
}

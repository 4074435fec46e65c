/** `/organizations`: separate owners of objects, which the system administrator creates and changes. */
import { Type } from 'typebox'
import { account } from '../../resources/account.js'
import { organization } from '../../resources/organization.js'
import { fieldNames } from '../../resources/resource.js'
import { referenceTo, requireAccess } from '../api/references.js'
import { answeredAs, resourceRoutes } from '../api/resource-routes.js'
import { givenBody, updateBody } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import { scopeOf, type StateService } from '../service.js'
import { parseFreeze } from './freeze.js'
import { organizationReading, type OrganizationRecord } from './organization-queries.js'
import {
  assignAccount,
  createOrganization,
  deleteOrganization,
  requireAdministrator,
  requireSystemAdministrator,
  unassignAccount,
  updateOrganization,
} from './organizations.js'

export function organizationRoutes(service: StateService): readonly Route[] {
  const assign = memberRoute(service, {
    verb: 'assign',
    summary: 'Adds an account as a user: the first as administrator, later ones as regular',
    run: assignAccount,
  })
  const unassign = memberRoute(service, {
    verb: 'unassign',
    summary: 'Removes an account, with its permissions there; 409 for the last administrator',
    run: unassignAccount,
  })
  return [...editRoutes(service), assign, unassign]
}

function answering(service: StateService) {
  return answeredAs<typeof organization.fields, OrganizationRecord>(
    organization.fields,
    (record) => {
      const frozen = parseFreeze(record.frozen, service.now())
      return { frozen: frozen && { until: frozen.until, reason: frozen.reason } }
    },
  )
}

function editRoutes(service: StateService): readonly Route[] {
  const answers = answering(service)
  return resourceRoutes(service, {
    ...organizationReading,
    ...answers,
    resource: organization,
    title: 'Organization',
    summaries: {
      list: 'All organizations; within one only that',
      create: 'Creates an organization; for the system administrator',
      get: 'One organization',
      update:
        'Changes an organization; a lock acts within 5 s, lifetimes from the next refresh. Its own administrators change frozen only',
      delete: 'Deletes an organization with its users and tokens; 409 while it owns anything else',
    },
    // An organization has no owner, so its create body has no `organization` key.
    bodies: { create: givenBody(organization.fields), update: updateBody(organization.fields) },
    requireChangeable: requireAdministrator,
    create: createOrganization,
    update: updateOrganization,
    remove: deleteOrganization,
  })
}

const accountBody = Type.Object(
  { account: referenceTo(fieldNames(account.fields)) },
  { additionalProperties: false },
)

interface MemberVerb {
  readonly verb: string
  readonly summary: string
  readonly run: typeof assignAccount
}

function memberRoute(service: StateService, { verb, summary, run }: MemberVerb): Route {
  const answers = answering(service)
  return route({
    method: 'PUT',
    path: `/organizations/{id}/${verb}`,
    operationId: `${verb}Account`,
    summary,
    errorKey: 'organization',
    permission: { type: 'org', access: 'write' },
    find: async (_, actor, id) => {
      const found = await organizationReading.find(service.store.queries, scopeOf(actor), id)
      if (found) requireSystemAdministrator(actor)
      return found
    },
    body: accountBody,
    answers: { 200: answers.answer },
    handle: async ({ actor, object, body }) => {
      requireAccess(actor, 'account', 'read', 'organization')
      return {
        status: 200,
        body: answers.toAnswer(await run(service, actor, object, body.account)),
      }
    },
  })
}

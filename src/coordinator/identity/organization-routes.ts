/** `/organizations`: separate owners of objects, made and changed by the system administrator. */
import { Type } from 'typebox'
import { account } from '../../resources/account.js'
import { organization } from '../../resources/organization.js'
import { fieldNames } from '../../resources/resource.js'
import { referenceTo, requireAccess } from '../api/references.js'
import { crudRoutes } from '../api/noun-routes.js'
import { givenBody, updateBody } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { toOrganizationView, wholeOrganizationSchema } from './identity-views.js'
import { organizationReading } from './organization-queries.js'
import {
  assignAccount,
  createOrganization,
  deleteOrganization,
  findChangeableOrganization,
  unassignAccount,
  updateOrganization,
} from './organizations.js'

export function organizationRoutes(service: StateService): readonly Route[] {
  const crud = crudRoutes({
    service,
    resource: organization,
    named: 'Organization',
    reading: organizationReading,
    schema: wholeOrganizationSchema,
    view: toOrganizationView,
    findChangeable: findChangeableOrganization,
    list: 'All organizations; within one only that',
    get: 'One organization',
    create: {
      summary: 'Makes an organization; for the system administrator',
      body: givenBody(organization.fields),
      run: (actor, body) => createOrganization(service, actor, body),
    },
    update: {
      summary: 'Changes an organization; a lock acts within 5 s, lifetimes from the next refresh',
      body: updateBody(organization.fields),
      run: updateOrganization,
    },
    remove: {
      summary: 'Deletes an organization with its users and tokens; 409 while it owns anything else',
      run: deleteOrganization,
    },
  })
  const assign = memberRoute(service, {
    verb: 'assign',
    summary: 'Makes an account a user: the first as administrator, later ones as regular',
    run: assignAccount,
  })
  const unassign = memberRoute(service, {
    verb: 'unassign',
    summary: 'Takes an account out, with its permissions there; 409 for the last administrator',
    run: unassignAccount,
  })
  return [...crud, assign, unassign]
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
  return route({
    method: 'PUT',
    path: `/organizations/{id}/${verb}`,
    operationId: `${verb}Account`,
    summary,
    errorKey: 'organization',
    permission: { type: 'org', access: 'write' },
    find: (_, actor, id) => findChangeableOrganization(service, actor, id),
    body: accountBody,
    answers: { 200: wholeOrganizationSchema },
    handle: async ({ actor, object, body }) => {
      requireAccess(actor, 'account', 'read', 'organization')
      return {
        status: 200,
        body: toOrganizationView(await run(service, actor, object, body.account)),
      }
    },
  })
}

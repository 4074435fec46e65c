/** `/domains`: the names that VCL groups answer for. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import {
  createDomain,
  deleteDomain,
  domainListFields,
  findDomain,
  listDomains,
  updateDomain,
} from './domains.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  managedBySchema,
  ownerReference,
  readOnlyKeys,
} from '../api/references.js'
import { domainSchema, toDomainView } from './domain-view.js'

const errorKey = 'domain'
const read = { type: 'domain', access: 'read' } as const
const write = { type: 'domain', access: 'write' } as const
const closed = { additionalProperties: false }

const fqdnSchema = Type.String({
  description:
    'A host name, as www.example.com, or *.example.com for all names below one; kept in lower case and ASCII',
  examples: ['www.example.com'],
})

export function domainRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findDomain(service, actor, id)
  const edit = editing(service, {
    keys: ['fqdn', 'managedBy'],
    find: findDomain,
    view: toDomainView,
  })
  return [
    route({
      method: 'GET',
      path: '/domains',
      operationId: 'listDomains',
      summary: 'Domains',
      errorKey,
      permission: read,
      query: listQuerySchema(domainListFields),
      answers: { 200: Type.Array(domainSchema) },
      handle: async ({ actor, query }) => {
        const found = await listDomains(service, actor, query)
        return answerList(mapRows(found, toDomainView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/domains',
      operationId: 'createDomain',
      summary: 'Makes a domain',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        {
          fqdn: fqdnSchema,
          managedBy: Type.Optional(managedBySchema),
          organization: ownerReference,
        },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 201: domainSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toDomainView(await createDomain(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/domains/{id}',
      operationId: 'getDomain',
      summary: 'One domain',
      errorKey,
      permission: read,
      edit,
      find,
      answers: { 200: domainSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toDomainView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/domains/{id}',
      operationId: 'updateDomain',
      summary: 'Changes a domain; another name is 409 while a group is deployed with it',
      errorKey,
      permission: write,
      edit,
      find,
      body: Type.Object(
        { fqdn: Type.Optional(fqdnSchema), managedBy: Type.Optional(managedBySchema) },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 200: domainSchema },
      handle: async ({ actor, object, body, guarded }) => ({
        status: 200,
        body: toDomainView(await updateDomain(guarded, actor, object, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/domains/{id}',
      operationId: 'deleteDomain',
      summary: 'Deletes a domain; 409 while a VCL group has it',
      errorKey,
      permission: write,
      edit,
      find,
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteDomain(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}
